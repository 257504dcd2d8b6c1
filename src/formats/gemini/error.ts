import type { ErrorFacts } from '../format.ts'

/** Google's envelope: the numeric status and its name. */
export function geminiErrorBody({ status, message }: ErrorFacts): object {
  return {
    error: { code: status, message, status: names[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT') },
  }
}

const names: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}
