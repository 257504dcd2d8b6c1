import { isObject } from '../../../lib/json.ts'
import type { CanonicalError } from '../canonical/canonical-errors.ts'
import { NO_REASON_MESSAGE } from '../canonical/late-reason.ts'
import type { ErrorResponse } from '../translator.ts'
import { readEmbeddedError } from './embedded-errors.ts'
import { classifyError, getErrorMeaning, readErrorResponse } from './error-kinds.ts'
import { readProviderError } from './read-error.ts'

/** Parses an error response in any form that vendors send: JSON, an array of JSON, plain text, HTML, or an empty body. */
export function parseProviderError(response: ErrorResponse): CanonicalError {
  const { body } = response
  const { kind, status, error: providerError, retryAfterMs: waitMs } = readErrorResponse(response)
  const { message = `The provider returned status ${response.status}.`, code } = providerError
  const error: CanonicalError = { kind: getErrorMeaning(kind).error, status, message }
  const fields = isObject(body) && isObject(body.error) ? body.error : {}
  if (code !== undefined) error.code = code
  if (typeof fields.param === 'string') error.param = fields.param
  if (waitMs !== undefined) error.retryAfterMs = waitMs
  return error
}

/** Parses an error in a stream or in a response with status 200. */
export function parseEmbeddedError(error: unknown): CanonicalError {
  const source = readEmbeddedError(error) ?? { message: NO_REASON_MESSAGE, status: 502, isVague: true }
  const { message, status } = source
  const providerError = readProviderError({ error })
  const canonicalError: CanonicalError = {
    kind: getErrorMeaning(classifyError(status, providerError)).error,
    status,
    message,
    source,
  }
  return providerError.code === undefined ? canonicalError : { ...canonicalError, code: providerError.code }
}
