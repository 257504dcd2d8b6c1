import type { JsonObject } from '../../lib/json.ts'
import type { CanonicalError, ErrorKind } from '../canonical/errors.ts'
import { overflowMessage } from './error.ts'

/** An error as Google's clients read it: the wait and the field at fault stand in its details. */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, message, param, retryAfterMs } = error
  const [usual, name] = table[kind]
  const code = kind === 'server' && error.status >= 500 ? error.status : usual
  const headers: Record<string, string> = {}
  const details: JsonObject[] = []
  if (retryAfterMs !== undefined) {
    const seconds = Math.ceil(retryAfterMs / 1000)
    headers['retry-after'] = String(seconds)
    details.push({ '@type': `${RPC}.RetryInfo`, retryDelay: `${seconds}s` })
  }
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  if (param !== undefined) details.push({ '@type': `${RPC}.BadRequest`, fieldViolations: [{ field: param }] })
  const body = {
    code,
    message: kind === 'context-overflow' ? overflowMessage(message) : message,
    status: code === 502 ? 'UNAVAILABLE' : name,
  }
  return { status: code, headers, body: { error: details.length > 0 ? { ...body, details } : body } }
}

const RPC = 'type.googleapis.com/google.rpc'

const table: Readonly<Record<ErrorKind, readonly [status: number, name: string]>> = {
  'bad-request': [400, 'INVALID_ARGUMENT'],
  authentication: [401, 'UNAUTHENTICATED'],
  billing: [429, 'RESOURCE_EXHAUSTED'],
  permission: [403, 'PERMISSION_DENIED'],
  'not-found': [404, 'NOT_FOUND'],
  timeout: [504, 'DEADLINE_EXCEEDED'],
  conflict: [409, 'ABORTED'],
  'too-large': [413, 'INVALID_ARGUMENT'],
  'context-overflow': [400, 'INVALID_ARGUMENT'],
  unprocessable: [400, 'INVALID_ARGUMENT'],
  'rate-limit': [429, 'RESOURCE_EXHAUSTED'],
  cancelled: [499, 'CANCELLED'],
  server: [500, 'INTERNAL'],
  overloaded: [503, 'UNAVAILABLE'],
}
