import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { type CanonicalError, type ErrorKind, getClientStatus } from '../canonical/canonical-errors.ts'
import { isKeyErrorCode, toKeyErrorCode } from '../errors/key-errors.ts'
import { parseEmbeddedError, parseProviderError } from '../errors/parse-error.ts'
import { getErrorObject, readMessage } from '../errors/read-error.ts'
import type { ErrorDetails, FormatErrors } from '../format.ts'
import type { ErrorResponse } from '../translator.ts'

/** Reads and writes Anthropic Messages errors. */
export const anthropicErrors: FormatErrors = {
  createBody: writeErrorBody,
  createEvent: (error) => `event: error\ndata: ${JSON.stringify(writeErrorBody(error))}\n\n`,
  isReadable,
  isErrorEvent: ({ event, data }) => event === 'error' && isReadable(tryParseJson(data)), // clients ignore unnamed events
  isOverflowError: ({ type, message }) => type === 'invalid_request_error' && OVERFLOW_PATTERN.test(String(message)),
  read: readMessage,
  writeBody: (error) => ({ type: 'error', error }),
}

function writeErrorBody({ status, code, message }: ErrorDetails): object {
  const type = errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return {
    type: 'error',
    error: {
      type,
      message: code === 'CONTEXT_OVERFLOW' ? writeOverflowMessage(message) : message,
      ...(isKeyErrorCode(code) && { code: code.toLowerCase() }),
    },
    request_id: null,
  }
}

function isReadable(body: unknown): boolean {
  return isObject(body) && body.type === 'error' && typeof getErrorObject(body)?.type === 'string'
}

/** Adds the wording that tells clients to shorten the conversation. */
const writeOverflowMessage = (message: string): string =>
  OVERFLOW_PATTERN.test(message) ? message : `prompt is too long: ${message}`

const OVERFLOW_PATTERN = /prompt is too long|input length and `max_tokens` exceed context limit/i

const errorTypes: Record<number, string> = {
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

/** Parses a provider's error response, with its most specific code. */
export const parseError = (response: ErrorResponse): CanonicalError =>
  addCode(parseProviderError(response), isObject(response.body) ? response.body.error : undefined)

/** Parses the error in a stream event. */
export const parseStreamError = (error: unknown): CanonicalError => addCode(parseEmbeddedError(error), error)

function addCode(canonicalError: CanonicalError, error: unknown): CanonicalError {
  const { type, details }: JsonObject = isObject(error) ? error : {}
  const detailCode = isObject(details) ? details.error_code : undefined
  const code = typeof detailCode === 'string' ? detailCode : type
  return typeof code === 'string' ? { ...canonicalError, code } : canonicalError
}

/**
 * Writes an error for Anthropic's clients. They retry on 408, 409, 429, and 5xx unless `x-should-retry` is false. Claude Code shortens the conversation
 * if the message states that the prompt is too long.
 */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, message, retryAfterMs } = error
  const code = toKeyErrorCode(error.code)
  const [status, type] = errorResponses[kind]
  const headers: Record<string, string> = {}
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  return {
    status: getClientStatus(error, status),
    headers,
    body: {
      type: 'error',
      error: {
        type,
        message: kind === 'context-overflow' ? writeOverflowMessage(message) : message,
        ...(code && { code }),
      },
      request_id: null, // the ID is in the header, if the provider sent one
    },
  }
}

const errorResponses: Readonly<Record<ErrorKind, readonly [status: number, type: string]>> = {
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
