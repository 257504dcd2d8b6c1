import type { JsonObject } from '../lib/json.ts'
import { entryOf } from '../lib/maps.ts'
import { type CanonicalError, type ErrorKind, statusOf } from './canonical/errors.ts'
import { codeOfKey } from './errors/of-key.ts'
import type { ErrorFacts } from './format.ts'

/** OpenAI's error body. That of an internal error (500) has no `param` and no `code`. */
export function openaiErrorBody({ status, code, message, param }: ErrorFacts): object {
  if (status === 500) return { error: { message, type: errorTypeOf(status) } }
  return {
    error: { message, type: errorTypeOf(status), param: param ?? null, code: codeOfStatus(status, code) },
  }
}

/** The `code` of an error; for a provider's failure the code of its status, if clients act on that. */
function codeOfStatus(status: number, code: string): string | null {
  if (code === 'UPSTREAM_FAILED' && status < 500) return codeByStatus[status] ?? null
  return entryOf(codeByGatewayCode, code) ?? code.toLowerCase()
}

const codeByStatus: Record<number, string> = { 404: 'model_not_found', 429: 'rate_limit_exceeded' }

/** The `type` of an error with this status. */
export function errorTypeOf(status: number): string {
  if (status >= 500) return 'server_error'
  if (status === 401) return 'authentication_error'
  if (status === 402) return 'insufficient_quota'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return 'invalid_request_error'
}

/** The codes that OpenAI's clients know, by the gateway's own codes. */
const codeByGatewayCode: Record<string, string> = {
  CONTEXT_OVERFLOW: 'context_length_exceeded',
  KEY_MISSING: 'invalid_api_key',
  KEY_UNKNOWN: 'invalid_api_key',
  MODEL_NOT_FOUND: 'model_not_found',
}

/** Writes an error for OpenAI's clients, which retry 408, 409, 429 and 5xx unless `x-should-retry` is false. */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, retryAfterMs } = error
  const headers: Record<string, string> = {}
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  return { status: statusOf(error, errorByKind[kind][0]), headers, body: { error: openaiError(error) } }
}

/** The `error` member of the body. */
export function openaiError(error: CanonicalError) {
  const { kind, message, param = null } = error
  const [, type, code] = errorByKind[kind]
  return {
    message,
    type,
    param,
    code: codeOfKey(error.code) ?? code ?? providerCode(error) ?? (kind === 'not-found' ? 'model_not_found' : null),
  }
}

/** The provider's code, unless it only names a kind of error: a type of Anthropic or OpenAI, a status of Google, an exception of AWS. */
const providerCode = ({ code }: CanonicalError) =>
  code === undefined || KIND_NAME.test(code) ? undefined : code.toLowerCase()

const KIND_NAME =
  /_error$|^request_too_large$|Exception$|^(?:ABORTED|ALREADY_EXISTS|CANCELLED|DATA_LOSS|DEADLINE_EXCEEDED|FAILED_PRECONDITION|INTERNAL|INVALID_ARGUMENT|NOT_FOUND|OUT_OF_RANGE|PERMISSION_DENIED|RESOURCE_EXHAUSTED|UNAUTHENTICATED|UNAVAILABLE|UNIMPLEMENTED|UNKNOWN)$/

/** The status, the `type`, and the `code` that clients act on, if there is one, by the kind of error. */
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
