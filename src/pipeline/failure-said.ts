import type { Operation } from '../formats/endpoint.ts'
import type { EmbeddedError, FailureReading } from '../formats/format.ts'
import {
  saysAccountRefused,
  saysBudgetInUse,
  saysContentRefused,
  saysKeyRefused,
  saysModelDenied,
  saysModelFailed,
  saysNoCompaction,
  saysNoMethod,
  saysNoModel,
  saysNoModelField,
  saysNoMoney,
  saysNoPath,
  saysOneModel,
  saysOverBudget,
  saysPage,
  saysPromptRefused,
  saysQuotaSpent,
} from '../formats/vendor-refusals.ts'
import { readSaid, type VendorSaid } from '../formats/vendor-said.ts'
import { saysBadKey, saysOverflow } from '../formats/vendor-words.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import type { UpstreamAnswer } from '../lib/exchange.ts'
import { isObject, tryParseShallow, tryStringify } from '../lib/json.ts'
import { askedWaitMs } from '../lib/retry-after.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Failure } from './failure.ts'
import { retold } from './retold.ts'
import { windowSaid } from './window-said.ts'

/** The failure that an error status and its (bounded) body stand for. */
export function failureOfStatus(
  answer: UpstreamAnswer,
  bytes: Uint8Array,
  { reading, operation, now }: { reading: FailureReading; operation: Operation; now: number },
): Failure {
  const { status: sent } = answer
  const status = statusFor(sent)
  const text = decodeUtf8Lenient(bytes)
  const json = tryParseShallow(text)
  const body = json ?? text
  if (operation === 'count-tokens' && (NO_PATH.has(status) || reading.saysNoCounter?.(body)))
    return {
      class: 'client',
      status,
      message: `The provider does not count tokens (status ${status}).`,
      isUncounted: true,
    }
  if (operation === 'compact' && isUncompacted(status, body))
    return {
      class: 'format',
      status,
      message: `The provider does not compact conversations (status ${status}).`,
      isUncompacted: true,
    }
  const own = reading.read(body).message
  const message = own ?? `The provider answered with status ${sent}.`
  const known = failureOf({
    status,
    message,
    isQuoted: own !== undefined,
    body,
    header: (name) => answer.header(name),
    now,
  })
  const failure = sent === status ? known : { ...known, upstreamStatus: sent }
  return json === undefined || failure.message !== message ? failure : { ...failure, body: bytes }
}

/** HTTP has no statuses from 600 on, and platforms do not send them. */
export const statusFor = (sent: number): number => (sent > 599 ? 502 : sent)

/** Is there no such endpoint, or none for this model? Not where there is no such model. */
function isUncompacted(status: number, body: unknown): boolean {
  const said = readSaid(body)
  if (NO_PATH.has(status)) return !saysNoModel(said)
  return (status === 400 || status === 422) && saysNoCompaction(said)
}

/** The statuses of a count that has no path there. Most compatible vendors have none; that says nothing about the model. */
const NO_PATH: ReadonlySet<number> = new Set([404, 405, 501])

/** The failure that an error in a 200 stands for. */
export function failureOfEmbedded(
  { status, message, error }: EmbeddedError,
  { head, reading, now }: { head: UpstreamAnswer; reading: FailureReading; now: number },
): Failure {
  const body = { error }
  const said = readSaid(body)
  const known = isOverflow(said) || (status >= 500 && saysContentRefused(said)) ? 400 : status
  const failure = failureOf({ status: known, message, isQuoted: true, body, header: (name) => head.header(name), now })
  if (!isObject(error) || failure.message !== message) return failure
  const text = tryStringify(reading.bodyOf(error, known))
  return text === undefined ? failure : { ...failure, body: encodeUtf8(text) }
}

interface Refused {
  status: number
  message: string
  isQuoted: boolean
  body: unknown
  header(name: string): string | undefined
  now: number
}

function failureOf({ status, message, isQuoted, body, header, now }: Refused): Failure {
  const said = readSaid(body, header('x-amzn-errortype'))
  const isWaitAsked = askedWaitMs({ header, body, now, isRateLimit: false }) !== undefined
  const failureClass = classOf(status, said, isWaitAsked)
  const isRateLimit = failureClass === 'rate-limit'
  const retryAfterMs = askedWaitMs({ header, body, now, text: said.text, isRateLimit })
  return (
    retold(failureClass, status, said) ?? {
      class: failureClass,
      ...(isRateLimit && saysOneModel(said) && { level: 'model' }),
      status,
      message,
      isQuoted,
      retryAfterMs,
      window: failureClass === 'context-overflow' ? windowSaid(message) : undefined,
      isInviting: PASSING.has(failureClass) && invitesAgain(header, retryAfterMs),
    }
  )
}

/** Failures that may be over in a moment. */
const PASSING: ReadonlySet<FailureClass> = new Set(['rate-limit', 'server', 'timeout'])

/**
 * Does the answer invite a retry? `x-should-retry` decides, otherwise a retry-after header; a wait that only rate-limit headers tell does
 * not.
 */
function invitesAgain(header: Refused['header'], retryAfterMs: number | undefined): boolean {
  const advice = header('x-should-retry')
  if (advice === 'true' || advice === 'false') return advice === 'true'
  return retryAfterMs !== undefined && (header('retry-after') ?? header('retry-after-ms')) !== undefined
}

/** The class of a failure, by its status and the provider's words (design.md: a client's 4xx never walks the chain). */
function classOf(status: number, said: VendorSaid, isWaitAsked: boolean): FailureClass {
  if (status === 401) return saysModelDenied(said) ? 'model-not-found' : 'credentials'
  if (status === 403) return classOfForbidden(said)
  if (saysOverBudget(said)) return 'over-budget'
  if (status === 402) return isWaitAsked || saysBudgetInUse(said) ? 'rate-limit' : 'credentials'
  if (MONEY.has(status) && saysNoMoney(said)) return 'credentials'
  if (status === 407) return 'network' // it is the gateway's own way out that wants credentials
  if (status === 408) return 'timeout' // of the request; a 504 is the provider's own trouble
  if (status === 429 || saysQuotaSpent(said)) return 'rate-limit'
  if (status === 413 && said.codes.includes('rate_limit_exceeded')) return 'rate-limit' // Groq, of tokens in a minute
  if (OVERFLOWS.has(status) && isOverflow(said)) return 'context-overflow'
  if (status >= 500 || OF_SERVERS.has(status) || saysModelFailed(said)) return 'server'
  if (status < 400) return 'content'
  if (status === 400 && saysBadKey(said.text, said.codes)) return 'credentials'
  if ((status === 400 || status === 412) && saysAccountRefused(said)) return 'credentials'
  if (saysNoModel(said) || (status === 404 && saysNoModelField(said))) return 'model-not-found'
  if ((status === 405 && saysNoMethod(said)) || (status === 400 && saysPage(said))) return 'content' // of a proxy
  return status === 404 && saysNoPath(said) ? 'content' : 'client'
}

/** A 403 may be about the prompt, the model or the key; `forbidden` where it does not say. */
function classOfForbidden(said: VendorSaid): FailureClass {
  if (saysContentRefused(said)) return 'client'
  if (saysModelDenied(said)) return 'model-not-found'
  if (saysKeyRefused(said)) return 'credentials'
  return saysPromptRefused(said) ? 'client' : 'forbidden'
}

const isOverflow = ({ text, codes }: VendorSaid) => [undefined, ...codes].some((code) => saysOverflow(text, code))

/**
 * Statuses below 500 for what is the server's fault: generation failed (Text Generation Inference), too early, no capacity (Groq), and what
 * a proxy says when it no longer waits for the server behind it.
 */
const OF_SERVERS: ReadonlySet<number> = new Set([424, 425, 498, 499])

/** The statuses by which vendors refuse an account without credit, besides 402. */
const MONEY: ReadonlySet<number> = new Set([400, 429])

/** The statuses by which servers refuse a prompt that is too long; some take it for their own fault. */
const OVERFLOWS: ReadonlySet<number> = new Set([400, 413, 422, 500])
