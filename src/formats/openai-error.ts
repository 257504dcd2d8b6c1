import type { JsonObject } from '../lib/json.ts'
import { type CanonicalError, type ErrorKind, statusOf } from './canonical/errors.ts'

/** An error for OpenAI's clients, which retry 408, 409, 429 and 5xx unless told not to. */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, retryAfterMs } = error
  const headers: Record<string, string> = {}
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  return { status: statusOf(error, table[kind][0]), headers, body: { error: openaiError(error) } }
}

/** The `error` member of the body. */
export function openaiError(error: CanonicalError) {
  const { kind, message, param = null } = error
  const [, type, code] = table[kind]
  return { message, type, param, code: code ?? codeOf(error) ?? (kind === 'not-found' ? 'model_not_found' : null) }
}

/** The provider's code, unless it only names a kind: a type of Anthropic or OpenAI, a status name of Google, an exception of AWS. */
const codeOf = ({ code }: CanonicalError) => (code === undefined || KIND.test(code) ? undefined : code.toLowerCase())

const KIND =
  /_error$|^request_too_large$|Exception$|^(?:ABORTED|ALREADY_EXISTS|CANCELLED|DATA_LOSS|DEADLINE_EXCEEDED|FAILED_PRECONDITION|INTERNAL|INVALID_ARGUMENT|NOT_FOUND|OUT_OF_RANGE|PERMISSION_DENIED|RESOURCE_EXHAUSTED|UNAUTHENTICATED|UNAVAILABLE|UNIMPLEMENTED|UNKNOWN)$/

/** Status, `type`, and the `code` that clients act on, if there is one. */
const table: Readonly<Record<ErrorKind, readonly [status: number, type: string, code?: string]>> = {
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
