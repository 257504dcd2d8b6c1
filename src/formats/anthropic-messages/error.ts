import type { ErrorFacts } from '../format.ts'

/** Anthropic's envelope; its clients read the type. */
export function anthropicErrorBody({ status, message }: ErrorFacts): object {
  return {
    type: 'error',
    error: { type: types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error'), message },
  }
}

const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}
