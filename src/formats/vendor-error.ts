import { isObject } from '../lib/json.ts'
import { askedWaitMs } from '../lib/retry-after.ts'
import { type CanonicalError, type ErrorKind, kindOfStatus } from './canonical/errors.ts'
import { embeddedError } from './embedded-error.ts'
import { readVendorError } from './read-vendor-error.ts'
import type { ErrorAnswer } from './translator.ts'
import { readSaid } from './vendor-said.ts'
import { saysBadKey, saysNoFunds, saysOverflow } from './vendor-words.ts'

/** Parses an error answer in any form that vendors send: JSON, an array of it, plain text, HTML, nothing. */
export function parseVendorError({ status, body, header, now }: ErrorAnswer): CanonicalError {
  const { message = `The provider answered with status ${status}.`, code } = readVendorError(body)
  const error: CanonicalError = { kind: kindOf(status, message, code), status, message }
  const param = paramOf(body)
  const wait = askedWaitMs({ header, body, now, text: readSaid(body).text, isRateLimit: status === 429 })
  if (code !== undefined) error.code = code
  if (param !== undefined) error.param = param
  if (wait !== undefined) error.retryAfterMs = wait
  return error
}

/** Parses an error in a stream or in a 200. A prompt that is too long is the client's error, whatever its status. */
export function parseEmbeddedError(error: unknown): { message: string; status: number; code?: string } {
  const { message, status } = embeddedError(error) ?? { message: 'The provider reported an error.', status: 502 }
  const { code } = readVendorError({ error })
  const found = { message, status: saysOverflow(message, code) ? 400 : status }
  return code === undefined ? found : { ...found, code }
}

/** The kind of error, by its status and message. */
export function kindOf(status: number, message: string, code?: string): ErrorKind {
  if ((status === 400 || status === 413 || status === 422) && saysOverflow(message, code)) return 'context-overflow'
  if ((status === 429 || status === 400 || status === 403) && saysNoFunds(message, code)) return 'billing'
  if (status === 400 && saysBadKey(message)) return 'authentication'
  return kindOfStatus(status)
}

function paramOf(body: unknown): string | undefined {
  const error = isObject(body) && isObject(body.error) ? body.error : undefined
  return typeof error?.param === 'string' ? error.param : undefined
}
