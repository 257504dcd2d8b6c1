import { isObject } from '../lib/json.ts'
import type { EmbeddedError } from './format.ts'

/** The HTTP statuses that words in providers' error objects stand for, in answers of status 200. */
const statusByWord: Record<string, number> = {
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  model_not_found: 404,
  invalid_request_error: 400,
  context_length_exceeded: 400,
  invalid_prompt: 400,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  insufficient_quota: 429,
  api_error: 500,
  server_error: 500,
  internal_server_error: 500,
  overloaded: 503,
  server_is_overloaded: 503,
  slow_down: 503,
  timeout_error: 504,
  overloaded_error: 529,
}

/** A vendor's error object or text with the status it stands for; 502 when it names none. */
export function embeddedError(error: unknown): EmbeddedError | undefined {
  if (!error) return undefined
  if (!isObject(error)) return { message: String(error), status: 502, error }
  const message =
    typeof error.message === 'string' ? error.message : 'The provider reported an error without a message.'
  return { message, status: statusOf(error), error }
}

function statusOf(error: { [name: string]: unknown }): number {
  for (const field of [error.status, error.code, error.type]) {
    const status = typeof field === 'string' ? (statusByWord[field] ?? Number(field)) : field
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  return 502
}
