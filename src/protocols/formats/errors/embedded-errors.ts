import { isObject, type JsonObject } from '../../../lib/json.ts'
import { readString } from '../canonical/canonical-values.ts'
import { hasReason, NO_REASON_MESSAGE } from '../canonical/late-reason.ts'
import type { EmbeddedError } from '../format.ts'
import { resolveStatus } from './error-kinds.ts'
import { isAboutRequest, readProviderError } from './read-error.ts'

/** The HTTP statuses for codes and types of errors that arrive with status 200. */
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

/** Reads a provider's error object or text from a response with status 200 or from a stream. The status is the one that the error implies, or 502. */
export function readEmbeddedError(error: unknown): EmbeddedError | undefined {
  if (!error) return undefined
  const fields = isObject(error) ? error : { message: typeof error === 'object' ? undefined : String(error) }
  const providerError = readProviderError({ error })
  const text = providerError.isSecondHand ? providerError.message : readString(fields.message)
  const message = text ?? 'The provider reported an error without a message.'
  const embeddedError = { message, status: resolveStatus(readStatus(fields), providerError), error }
  return hasReason(error) ? embeddedError : { ...embeddedError, isVague: true }
}

/**
 * Reads an error from other fields (`detail`, `errors`, `message`) of an object that isn't a response. Returns `errorFieldError` unless the error is about
 * the request.
 */
export function readErrorFromOtherFields(body: JsonObject, errorFieldError?: EmbeddedError): EmbeddedError | undefined {
  if (errorFieldError && isAboutRequest(readProviderError({ error: errorFieldError.error }))) return errorFieldError
  const providerError = readProviderError(body)
  if (!isAboutRequest(providerError)) return errorFieldError
  const { message = NO_REASON_MESSAGE } = providerError
  return {
    message,
    status: 400,
    error: { ...body, message, ...(providerError.code !== undefined && { code: providerError.code }) },
  }
}

function readStatus(error: { [name: string]: unknown }): number {
  for (const field of [error.status, error.code, error.type]) {
    const status =
      typeof field === 'string'
        ? (statusByCode[field] ?? (REQUEST_CODE_PATTERN.test(field) ? 400 : Number(field)))
        : field
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  return 502
}

/** Codes about the request or its content. */
const REQUEST_CODE_PATTERN =
  /^(?:invalid_(?:prompt|request|value|type|parameter|\w*image)|image_|empty_image|unsupported_image|failed_to_download)|policy/
