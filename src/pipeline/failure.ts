import { type ErrorCode, toGatewayError } from '../errors.ts'
import type { EmbeddedError, UpstreamFormat } from '../formats/format.ts'
import { saysBadKey, saysOverflow } from '../formats/vendor-words.ts'
import { decodeUtf8Lenient } from '../lib/bytes.ts'
import type { UpstreamAnswer, UpstreamCall } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import { askedWaitMs } from '../lib/retry-after.ts'
import type { FailureClass } from '../routing/failure-class.ts'

/** One attempt that brought no answer. */
export interface Failure {
  class: FailureClass
  /** The HTTP status of the failure; 502 or 504 where the provider gave none. */
  status: number
  /** The provider's own status, where the client must not read it as its own. */
  upstreamStatus?: number
  /** What the provider said, or what happened. Fit for the caller: it holds no secret. */
  message: string
  retryAfterMs?: number | undefined
  /** The provider's own JSON error, which the caller may have as it is. */
  body?: Uint8Array
  /** Of an error that was translated, in place of the provider's. */
  headers?: Record<string, string>
}

/** What an error status means for the chain (design.md: a client's 4xx never walks it). */
export function classOfStatus(status: number, text: string, code: string | undefined): FailureClass {
  if (status === 401 || status === 402 || status === 403) return 'credentials'
  if (status === 400 && saysBadKey(text)) return 'credentials'
  if (status === 429) return 'rate-limit'
  if (status === 408 || status === 504) return 'timeout'
  if (status === 404 && code !== undefined && /model_?not_?found|not_found_error/i.test(code)) return 'model-not-found'
  if (status >= 500) return 'server'
  if (status >= 400) return saysOverflow(text, code) ? 'context-overflow' : 'client'
  return 'content'
}

/** A failure out of an answer whose status is no success, and the (bounded) body that came with it. */
export function failureOfStatus(
  answer: UpstreamAnswer,
  bytes: Uint8Array,
  { format, now }: { format: UpstreamFormat; now: number },
): Failure {
  const { status } = answer
  const text = decodeUtf8Lenient(bytes)
  const json = tryParseJson(text)
  const said = format.readError(json ?? text)
  const failureClass = classOfStatus(status, text, said.code)
  if (failureClass === 'credentials') return refusedCredentials(status) // its text may show part of the key
  if (failureClass === 'content')
    return { class: failureClass, status: 502, message: `The provider answered with status ${status}${hint(status)}` }
  const header = (name: string) => answer.header(name)
  const message = said.message ?? `The provider answered with status ${status}.`
  const failure: Failure = {
    class: failureClass,
    status: status > 599 ? 502 : status,
    message,
    retryAfterMs: askedWaitMs({ header, body: json, now, isRateLimit: failureClass === 'rate-limit' }),
  }
  return json === undefined ? failure : { ...failure, body: bytes }
}

/** A failure out of an error that stood where the answer should have been, in a 200. */
export function failureOfEmbedded({ status, message }: EmbeddedError): Failure {
  const failureClass = classOfStatus(status, message, undefined)
  if (failureClass === 'credentials') return refusedCredentials(status)
  return { class: failureClass, status, message }
}

/** A failure out of what a call threw. */
export function failureOfError(thrown: unknown): Failure {
  const error = toGatewayError(thrown)
  if (error.code === 'INTERNAL') return { class: 'internal', status: 500, message: error.message }
  const failureClass = CLASSES[error.code] ?? 'network'
  return { class: failureClass, status: error.status, message: error.message }
}

const CLASSES: Partial<Record<ErrorCode, FailureClass>> = {
  UPSTREAM_TIMEOUT: 'timeout',
  UPSTREAM_INVALID: 'content',
  UPSTREAM_CREDENTIALS: 'credentials',
}

/** The failure without the credentials of the call, should the provider have quoted one. */
export function withoutCredentials(failure: Failure, { headers }: UpstreamCall): Failure {
  return CREDENTIALS.reduce((rest, name) => without(rest, headers[name]?.replace('Bearer ', '')), failure)
}

const CREDENTIALS = ['authorization', 'x-api-key', 'x-goog-api-key', 'api-key', 'x-amz-security-token']

function without(failure: Failure, secret: string | undefined): Failure {
  if (secret === undefined || secret.length < SHORTEST_SECRET) return failure
  const { body, ...rest } = failure
  if (!rest.message.includes(secret) && !(body && decodeUtf8Lenient(body).includes(secret))) return failure
  return { ...rest, message: rest.message.replaceAll(secret, '[credential]') }
}

/** Shorter ones are placeholders for providers that want none. */
const SHORTEST_SECRET = 8

/** The connection's own credential is damaged, or sealed with another secret. */
export const unreadableCredential: Failure = {
  class: 'credentials',
  status: 500,
  message: 'The credential of the connection cannot be opened.',
}

export const contentFailure = (message: string): Failure => ({ class: 'content', status: 502, message })

const refusedCredentials = (status: number): Failure => ({
  class: 'credentials',
  status: 502,
  upstreamStatus: status,
  message: `The provider refused the credentials of the connection (status ${status}).`,
})

const hint = (status: number) =>
  status === 0 || (status >= 300 && status < 400)
    ? ', a redirect, which is never followed. Check the base URL of the connection.'
    : '.'
