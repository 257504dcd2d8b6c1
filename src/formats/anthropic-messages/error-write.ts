import type { JsonObject } from '../../lib/json.ts'
import { type CanonicalError, type ErrorKind, statusOf } from '../canonical/errors.ts'
import { overflowMessage } from './error.ts'

/**
 * An error as Anthropic's clients read it. They try again on 408, 409, 429 and 5xx unless they are told that it is no use; Claude Code makes
 * a conversation shorter when it reads that the prompt is too long.
 */
export function writeError(error: CanonicalError): {
  status: number
  headers: Record<string, string>
  body: JsonObject
} {
  const { kind, message, retryAfterMs } = error
  const [status, type] = table[kind]
  const headers: Record<string, string> = {}
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterMs / 1000))
  if (kind === 'billing') headers['x-should-retry'] = 'false'
  return {
    status: statusOf(error, status),
    headers,
    body: {
      type: 'error',
      error: { type, message: kind === 'context-overflow' ? overflowMessage(message) : message },
      request_id: null, // in the header, where the provider named it
    },
  }
}

const table: Readonly<Record<ErrorKind, readonly [status: number, type: string]>> = {
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
