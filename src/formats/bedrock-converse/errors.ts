import { isObject, tryParseJson } from '../../lib/json.ts'
import type { CanonicalError } from '../canonical/errors.ts'
import { kindOf, meaningOf, statusInWords } from '../errors/kinds.ts'
import { parseProviderError } from '../errors/parse.ts'
import { readProviderError } from '../errors/read.ts'
import { isContextOverflow } from '../errors/words.ts'
import type { EmbeddedError, ErrorReader } from '../format.ts'
import type { ErrorAnswer } from '../translator.ts'

/** Message and code of an error body; older services spell `Message`. An overflow of the context gets the code of other vendors for it. */
export function readError(body: unknown): { message?: string; code?: string } {
  const message = messageOf(body)
  if (message === undefined) return {}
  return isContextOverflow(readProviderError(body)) ? { message, code: 'context_length_exceeded' } : { message }
}

/** Parses a provider's error response; its kind is in a header. */
export function parseError(answer: ErrorAnswer): CanonicalError {
  const { code = answer.header('x-amzn-errortype')?.split(':')[0], ...found } = readError(answer.body)
  const error = { ...parseProviderError(answer), ...found }
  return code === undefined || found.message === undefined ? error : { ...error, code }
}

/** The exception in an event of a stream, as an error with a status; `undefined` for every other event. */
export function exceptionIn(event: string | undefined, data: string): EmbeddedError | undefined {
  if (!event?.endsWith('Exception')) return undefined
  const error = tryParseJson(data)
  const message = messageOf(error) ?? `The provider reported ${event}.`
  const status = STATUSES[event.charAt(0).toLowerCase() + event.slice(1)] ?? 502
  return { message, status: statusInWords(status, readProviderError(error)), error }
}

/** Converts an exception in a stream to the canonical form. */
export function streamError(source: EmbeddedError): CanonicalError {
  const { message, status, error } = source
  return { kind: meaningOf(kindOf(status, readProviderError(error))).error, status, message, source }
}

/** The statuses of the same errors outside of streams. A failure of the model is not the fault of the request. */
const STATUSES: Readonly<Record<string, number>> = {
  accessDeniedException: 403,
  internalServerException: 500,
  modelStreamErrorException: 502,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

function messageOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined
  const message = body.message ?? body.Message
  return typeof message === 'string' && message !== '' ? message : undefined
}

export const converseErrors: ErrorReader = {
  read: readError,
  bodyOf: (error) => error,
  cannotCount: (body) => NO_COUNTER.test(readError(body).message ?? ''),
}

/**
 * The words of errors which say that tokens cannot be counted. Converse counts them for some models only, under their own ids, and with a
 * permission. Such an error is not the fault of the request, and does not mean that the model cannot be called.
 */
const NO_COUNTER =
  /support counting tokens|\bbedrock:CountTokens\b|\bprovided model identifier\b|\bwith on-demand throughput\b/i
