import { isObject, tryParseJson } from '../../../lib/json.ts'
import type { CanonicalError } from '../canonical/canonical-errors.ts'
import { classifyError, getErrorMeaning, resolveStatus } from '../errors/error-kinds.ts'
import { isContextOverflow } from '../errors/error-words.ts'
import { parseProviderError } from '../errors/parse-error.ts'
import { readProviderError } from '../errors/read-error.ts'
import type { EmbeddedError, ErrorReader } from '../format.ts'
import type { ErrorResponse } from '../translator.ts'

/** Reads an error body's message (`Message` in older APIs) and code. A context overflow gets the code that other vendors use. */
export function readError(body: unknown): { message?: string; code?: string } {
  const message = readMessage(body)
  if (message === undefined) return {}
  return isContextOverflow(readProviderError(body)) ? { message, code: 'context_length_exceeded' } : { message }
}

/** Parses a provider's error response. Its error type is in a header. */
export function parseError(response: ErrorResponse): CanonicalError {
  const { code = response.header('x-amzn-errortype')?.split(':')[0], ...parsedFields } = readError(response.body)
  const error = { ...parseProviderError(response), ...parsedFields }
  return code === undefined || parsedFields.message === undefined ? error : { ...error, code }
}

/** Reads the exception in a stream event, as an error with a status. Returns `undefined` for every other event. */
export function readException(event: string | undefined, data: string): EmbeddedError | undefined {
  if (!event?.endsWith('Exception')) return undefined
  const error = tryParseJson(data)
  const message = readMessage(error) ?? `The provider reported ${event}.`
  const status = STATUS_BY_EXCEPTION[event.charAt(0).toLowerCase() + event.slice(1)] ?? 502
  return { message, status: resolveStatus(status, readProviderError(error)), error }
}

/** Converts an exception in a stream to the canonical format. */
export function parseStreamError(source: EmbeddedError): CanonicalError {
  const { message, status, error } = source
  return { kind: getErrorMeaning(classifyError(status, readProviderError(error))).error, status, message, source }
}

/** The HTTP statuses that these errors have outside streams. A model failure isn't the request's fault. */
const STATUS_BY_EXCEPTION: Readonly<Record<string, number>> = {
  accessDeniedException: 403,
  internalServerException: 500,
  modelStreamErrorException: 502,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

function readMessage(body: unknown): string | undefined {
  if (!isObject(body)) return undefined
  const message = body.message ?? body.Message
  return typeof message === 'string' && message !== '' ? message : undefined
}

export const converseErrors: ErrorReader = {
  read: readError,
  writeBody: (error) => error,
  rejectsCounting: (body) => NO_COUNTER_MESSAGE.test(readError(body).message ?? ''),
}

/** Errors that mean that tokens can't be counted. Counting requires a permission and only works with some model IDs. The model itself still works. */
const NO_COUNTER_MESSAGE =
  /support counting tokens|\bbedrock:CountTokens\b|\bprovided model identifier\b|\bwith on-demand throughput\b/i
