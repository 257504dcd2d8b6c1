import { isObject, tryParseJson } from '../../lib/json.ts'
import { errorObjectIn } from '../error-object.ts'
import type { ErrorFacts, ErrorTelling } from '../format.ts'

export const anthropicErrors: ErrorTelling = {
  body,
  event: (error) => `event: error\ndata: ${JSON.stringify(body(error))}\n\n`,
  isReadable,
  isErrorEvent: ({ event, data }) => event === 'error' && isReadable(tryParseJson(data)), // clients ignore events without a name
}

/** Anthropic's envelope; its clients read the type. */
function body({ status, code, message }: ErrorFacts): object {
  const type = types[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return {
    type: 'error',
    error: { type, message: code === 'CONTEXT_OVERFLOW' ? overflowMessage(message) : message },
    request_id: null,
  }
}

function isReadable(body: unknown): boolean {
  return isObject(body) && body.type === 'error' && typeof errorObjectIn(body)?.type === 'string'
}

/** In the words by which clients know that the conversation has to become shorter. */
export const overflowMessage = (message: string): string =>
  KNOWN_OVERFLOW.test(message) ? message : `prompt is too long: ${message}`

const KNOWN_OVERFLOW = /prompt is too long|input length and `max_tokens` exceed context limit/i

const types: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}
