import { isObject, tryParseJson } from '../../lib/json.ts'
import type { CanonicalError } from '../canonical/errors.ts'
import type { EmbeddedError } from '../format.ts'
import type { ErrorAnswer } from '../translator.ts'
import { kindOf, parseVendorError } from '../vendor-error.ts'
import { saysOverflow } from '../vendor-words.ts'

/** An error body: a message, with a capital in the older services. What does not fit gets the code by which that is known. */
export function readError(body: unknown): { message?: string; code?: string } {
  const message = messageOf(body)
  if (message === undefined) return {}
  return isOverflow(message) ? { message, code: 'context_length_exceeded' } : { message }
}

/** A provider's error answer; its kind stands in a header. */
export function parseError(answer: ErrorAnswer): CanonicalError {
  const { message, code } = readError(answer.body)
  const type = answer.header('x-amzn-errortype')?.split(':')[0]
  const error = parseVendorError({ ...answer, body: { error: { message, code: code ?? type } } })
  return message === undefined ? { ...error, ...parseVendorError(answer) } : error
}

/** An exception in a stream as an error with a status; undefined for every other event. */
export function exceptionIn(event: string | undefined, data: string): EmbeddedError | undefined {
  if (!event?.endsWith('Exception')) return undefined
  const error = tryParseJson(data)
  const message = messageOf(error) ?? `The provider reported ${event}.`
  return { message, status: STATUSES[event.charAt(0).toLowerCase() + event.slice(1)] ?? 502, error }
}

export function streamError({ message, status }: EmbeddedError): CanonicalError {
  const kind = isOverflow(message) ? 'context-overflow' : kindOf(status, message)
  return { kind, status, message }
}

/** The statuses that Converse has for the same outside of streams; a model that failed is no fault of the request. */
const STATUSES: Readonly<Record<string, number>> = {
  accessDeniedException: 403,
  internalServerException: 500,
  modelStreamErrorException: 502,
  modelTimeoutException: 408,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

const isOverflow = (message: string) =>
  saysOverflow(message) || /\binput is too long\b|too many input tokens/i.test(message)

function messageOf(body: unknown): string | undefined {
  if (!isObject(body)) return undefined
  const message = body.message ?? body.Message
  return typeof message === 'string' && message !== '' ? message : undefined
}
