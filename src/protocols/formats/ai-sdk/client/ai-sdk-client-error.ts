import type { JsonObject } from '../../../../lib/json.ts'
import { type CanonicalError, type ErrorKind, getClientStatus } from '../../canonical/canonical-errors.ts'
import { toKeyErrorCode } from '../../errors/key-errors.ts'
import { getErrorType } from '../ai-sdk-errors.ts'

/** Writes an error for clients, which retry on 408, 409, 429, and 5xx. */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, message, retryAfterMs, param = null } = error
  const status = getClientStatus(error, statuses[kind])
  const headers: Record<string, string> = {}
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  const code = toKeyErrorCode(error.code) ?? error.code?.toLowerCase() ?? kind.replaceAll('-', '_')
  return { status, headers, body: { error: { message, type: getErrorType(status, ''), param, code } } }
}

const statuses: Readonly<Record<ErrorKind, number>> = {
  'bad-request': 400,
  authentication: 401,
  billing: 402,
  permission: 403,
  'not-found': 404,
  timeout: 504,
  conflict: 409,
  'too-large': 413,
  'context-overflow': 400,
  unprocessable: 422,
  'rate-limit': 429,
  cancelled: 499,
  server: 500,
  overloaded: 503,
}
