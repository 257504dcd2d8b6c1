import { isObject } from '../../lib/json.ts'
import type { CanonicalError } from '../canonical/errors.ts'
import type { ErrorAnswer } from '../translator.ts'
import { embeddedError } from './embedded.ts'
import { kindOf, meaningOf, readErrorAnswer } from './kinds.ts'
import { readProviderError } from './read.ts'

/** Parses an error answer in any form that vendors send: JSON, an array of JSON, plain text, HTML, or an empty body. */
export function parseProviderError(answer: ErrorAnswer): CanonicalError {
  const { status, body } = answer
  const { kind, error: read, retryAfterMs: wait } = readErrorAnswer(answer)
  const { message = `The provider answered with status ${status}.`, code } = read
  const error: CanonicalError = { kind: meaningOf(kind).error, status, message }
  const param = paramOf(body)
  if (code !== undefined) error.code = code
  if (param !== undefined) error.param = param
  if (wait !== undefined) error.retryAfterMs = wait
  return error
}

/** Parses an error in a stream or in a response of status 200. */
export function parseEmbeddedError(error: unknown): CanonicalError {
  const source = embeddedError(error) ?? { message: 'The provider reported an error.', status: 502 }
  const { message, status } = source
  const read = readProviderError({ error })
  const found: CanonicalError = { kind: meaningOf(kindOf(status, read)).error, status, message, source }
  return read.code === undefined ? found : { ...found, code: read.code }
}

function paramOf(body: unknown): string | undefined {
  const error = isObject(body) && isObject(body.error) ? body.error : undefined
  return typeof error?.param === 'string' ? error.param : undefined
}
