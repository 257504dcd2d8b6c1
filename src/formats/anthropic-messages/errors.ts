import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { type CanonicalError, type ErrorKind, statusOf } from '../canonical/errors.ts'
import { codeOfKey, isOfKey } from '../errors/of-key.ts'
import { parseEmbeddedError, parseProviderError } from '../errors/parse.ts'
import { errorObjectIn, readMessage } from '../errors/read.ts'
import type { ErrorFacts, FormatErrors } from '../format.ts'
import type { ErrorAnswer } from '../translator.ts'

/** Errors of Messages. */
export const messageErrors: FormatErrors = {
  body,
  event: (error) => `event: error\ndata: ${JSON.stringify(body(error))}\n\n`,
  isReadable,
  isErrorEvent: ({ event, data }) => event === 'error' && isReadable(tryParseJson(data)), // clients ignore events without a name
  read: readMessage,
  bodyOf: (error) => ({ type: 'error', error }),
}

/** Writes Anthropic's envelope of an error, of which its clients read the type. */
function body({ status, code, message }: ErrorFacts): object {
  const type = typeOfStatus[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return {
    type: 'error',
    error: {
      type,
      message: code === 'CONTEXT_OVERFLOW' ? overflowMessage(message) : message,
      ...(isOfKey(code) && { code: code.toLowerCase() }),
    },
    request_id: null,
  }
}

function isReadable(body: unknown): boolean {
  return isObject(body) && body.type === 'error' && typeof errorObjectIn(body)?.type === 'string'
}

/** Adds the words by which clients recognize that the conversation must become shorter. */
export const overflowMessage = (message: string): string =>
  KNOWN_OVERFLOW.test(message) ? message : `prompt is too long: ${message}`

const KNOWN_OVERFLOW = /prompt is too long|input length and `max_tokens` exceed context limit/i

const typeOfStatus: Record<number, string> = {
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

/** Parses a provider's error response; the code is the most specific one in it. */
export const parseError = (answer: ErrorAnswer): CanonicalError =>
  withCode(parseProviderError(answer), isObject(answer.body) ? answer.body.error : undefined)

/** Parses the error in an event of a stream. */
export const streamError = (error: unknown): CanonicalError => withCode(parseEmbeddedError(error), error)

function withCode(parsed: CanonicalError, error: unknown): CanonicalError {
  const { type, details }: JsonObject = isObject(error) ? error : {}
  const detailCode = isObject(details) ? details.error_code : undefined
  const code = typeof detailCode === 'string' ? detailCode : type
  return typeof code === 'string' ? { ...parsed, code } : parsed
}

/**
 * Writes an error for Anthropic's clients. They retry on 408, 409, 429 and 5xx unless `x-should-retry` is false; Claude Code shortens the
 * conversation when the message is that the prompt is too long.
 */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, message, retryAfterMs } = error
  const code = codeOfKey(error.code)
  const [status, type] = responseOfKind[kind]
  const headers: Record<string, string> = {}
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  return {
    status: statusOf(error, status),
    headers,
    body: {
      type: 'error',
      error: { type, message: kind === 'context-overflow' ? overflowMessage(message) : message, ...(code && { code }) },
      request_id: null, // the header has the id, if the provider has named one
    },
  }
}

const responseOfKind: Readonly<Record<ErrorKind, readonly [status: number, type: string]>> = {
  'bad-request': [400, 'invalid_request_error'],
  authentication: [401, 'authentication_error'],
  billing: [402, 'billing_error'],
  permission: [403, 'permission_error'],
  'not-found': [404, 'not_found_error'],
  timeout: [504, 'timeout_error'],
  conflict: [409, 'conflict_error'],
  'too-large': [413, 'request_too_large'],
  'context-overflow': [400, 'invalid_request_error'],
  unprocessable: [422, 'invalid_request_error'],
  'rate-limit': [429, 'rate_limit_error'],
  cancelled: [499, 'api_error'],
  server: [500, 'api_error'],
  overloaded: [529, 'overloaded_error'],
}
