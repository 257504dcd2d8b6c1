import { tryParseJson } from '../../lib/json.ts'
import { errorObjectIn } from '../error-object.ts'
import type { ErrorFacts, ErrorTelling } from '../format.ts'

export const geminiErrors: ErrorTelling = {
  body,
  event: (error) => `data: ${JSON.stringify(body(error))}\n\n`,
  isReadable,
  isErrorEvent: ({ data }) => isReadable(tryParseJson(data)),
}

/** Google's envelope: the numeric status and its name. */
function body({ status, code, message }: ErrorFacts): object {
  const name = names[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT')
  const said = code === 'CONTEXT_OVERFLOW' ? overflowMessage(message) : message
  return { error: { code: status, message: said, status: name } }
}

/** Google wraps some errors in an array. */
function isReadable(body: unknown): boolean {
  const envelope: unknown = Array.isArray(body) ? body[0] : body
  return typeof errorObjectIn(envelope)?.code === 'number'
}

/** Clients know an overflow by these words. */
export const overflowMessage = (message: string): string =>
  /input token count/i.test(message)
    ? message
    : `The input token count exceeds the maximum number of tokens allowed. ${message}`

const names: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
  529: 'UNAVAILABLE',
}
