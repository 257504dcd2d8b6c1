import { isObject } from '../../lib/json.ts'
import type { EmbeddedError } from '../format.ts'
import { statusInWords } from './kinds.ts'
import { readProviderError } from './read.ts'

/** The HTTP statuses that codes and types in providers' error objects stand for, in answers of status 200. */
const statusByCode: Record<string, number> = {
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  conflict_error: 409,
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

/** A provider's error object or text in an answer of status 200 or in a stream, with the status that it stands for; 502 if it names none. */
export function embeddedError(error: unknown): EmbeddedError | undefined {
  if (!error) return undefined
  const fields = isObject(error) ? error : { message: typeof error === 'object' ? undefined : String(error) }
  const message =
    typeof fields.message === 'string' ? fields.message : 'The provider reported an error without a message.'
  return { message, status: statusInWords(statusOf(fields), readProviderError({ error })), error }
}

function statusOf(error: { [name: string]: unknown }): number {
  for (const field of [error.status, error.code, error.type]) {
    const status = typeof field === 'string' ? (statusByCode[field] ?? statusByPattern(field) ?? Number(field)) : field
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  return 502
}

/** The status for codes about the request or its content. */
const statusByPattern = (code: string) => (OF_REQUEST.test(code) ? 400 : undefined)

const OF_REQUEST =
  /^(?:invalid_(?:prompt|request|value|type|parameter|\w*image)|image_|empty_image|unsupported_image|failed_to_download)|policy/
