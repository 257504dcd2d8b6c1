import type { JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import { type CanonicalError, type ErrorKind, getClientStatus } from './canonical/canonical-errors.ts'
import { toKeyErrorCode } from './errors/key-errors.ts'
import type { ErrorDetails } from './format.ts'

/** Writes OpenAI's error body. An internal error (500) has no `param` and no `code`. */
export function writeOpenAIErrorBody({ status, code, message, param }: ErrorDetails): object {
  const type = getErrorType(status)
  if (status === 500) return { error: { message, type } }
  const isUpstreamFailure = code === 'UPSTREAM_FAILED' && status < 500 // for some statuses, clients act on the code, so the generic one is replaced
  const openaiCode = isUpstreamFailure ? (codeByStatus[status] ?? null) : toOpenAICode(code)
  return { error: { message, type, param: param ?? null, code: openaiCode } }
}

/** Converts a gateway code to one that OpenAI clients know. */
export const toOpenAICode = (code: string): string => getEntry(codeByGatewayCode, code) ?? code.toLowerCase()

const codeByStatus: Record<number, string> = { 404: 'model_not_found', 429: 'rate_limit_exceeded' }

/** Returns the error `type` for a status. */
export function getErrorType(status: number): string {
  if (status >= 500) return 'server_error'
  if (status === 401) return 'authentication_error'
  if (status === 402) return 'insufficient_quota'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return 'invalid_request_error'
}

/** Maps the gateway's codes to codes that OpenAI clients know. */
const codeByGatewayCode: Record<string, string> = {
  CONTENT_REFUSED: 'content_filter',
  CONTEXT_OVERFLOW: 'context_length_exceeded',
  KEY_MISSING: 'invalid_api_key',
  KEY_UNKNOWN: 'invalid_api_key',
  MODEL_NOT_FOUND: 'model_not_found',
}

/** Writes an error for OpenAI clients, which retry 408, 409, 429, and 5xx unless `x-should-retry` is false. */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, retryAfterMs } = error
  const headers: Record<string, string> = {}
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  return { status: getClientStatus(error, errorByKind[kind][0]), headers, body: { error: writeOpenAIError(error) } }
}

/** Writes the `error` field of the body. */
export function writeOpenAIError(error: CanonicalError) {
  const { kind, message, param = null } = error
  const [, type, code] = errorByKind[kind]
  return {
    message,
    type,
    param,
    code:
      toKeyErrorCode(error.code) ?? code ?? getProviderCode(error) ?? (kind === 'not-found' ? 'model_not_found' : null),
  }
}

/** Returns the provider's code, unless it only identifies a kind of error: an Anthropic or OpenAI type, a Google status, or an AWS exception. */
const getProviderCode = ({ code }: CanonicalError) =>
  code === undefined || KIND_NAME_PATTERN.test(code) ? undefined : code.toLowerCase()

const KIND_NAME_PATTERN =
  /_error$|^request_too_large$|Exception$|^(?:ABORTED|ALREADY_EXISTS|CANCELLED|DATA_LOSS|DEADLINE_EXCEEDED|FAILED_PRECONDITION|INTERNAL|INVALID_ARGUMENT|NOT_FOUND|OUT_OF_RANGE|PERMISSION_DENIED|RESOURCE_EXHAUSTED|UNAUTHENTICATED|UNAVAILABLE|UNIMPLEMENTED|UNKNOWN)$/

/** Each kind's status and `type`, and its `code` if clients act on one. */
const errorByKind: Readonly<Record<ErrorKind, readonly [status: number, type: string, code?: string]>> = {
  'bad-request': [400, 'invalid_request_error'],
  authentication: [401, 'authentication_error', 'invalid_api_key'],
  billing: [429, 'insufficient_quota', 'insufficient_quota'],
  permission: [403, 'permission_error'],
  'not-found': [404, 'invalid_request_error'],
  timeout: [504, 'server_error'],
  conflict: [409, 'invalid_request_error'],
  'too-large': [413, 'invalid_request_error'],
  'context-overflow': [400, 'invalid_request_error', 'context_length_exceeded'],
  unprocessable: [422, 'invalid_request_error'],
  'rate-limit': [429, 'rate_limit_error', 'rate_limit_exceeded'],
  cancelled: [499, 'invalid_request_error'],
  server: [500, 'server_error'],
  overloaded: [503, 'server_error'],
}
