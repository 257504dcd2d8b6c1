import { durationMs } from './duration.ts'
import { parseHttpDate } from './http-date.ts'
import { isObject, type JsonObject } from './json.ts'
import { resetMs, waitUntil } from './rate-limit-headers.ts'
import { waitInWords } from './wait-in-words.ts'

/** A provider's error answer, as far as it may say how long to wait. */
export interface Refusal {
  header(name: string): string | undefined
  /** Its body as JSON, if it is. */
  body: unknown
  /** Epoch ms. */
  now: number
  /** Its message, without what repeats the request. */
  text?: string
  /** Is it a rate limit? Only then do its message and its rate-limit headers, which are always sent, tell the wait. */
  isRateLimit: boolean
}

/** Longer waits are cut to this: an hour. */
const MAX_MS = 60 * 60 * 1_000

/**
 * The wait that a refusal asks for, in ms, an hour at most: `retry-after-ms`, `retry-after` as seconds, a duration or a date, Google's
 * `RetryInfo`, a member of the error, a reset header, headers that OpenRouter hands on in its error, and its words. 0, which means "now",
 * only when nothing says more.
 */
export function askedWaitMs({ header, body, now, text = '', isRateLimit }: Refusal): number | undefined {
  const error = errorIn(body)
  const inner = innerHeader(error)
  const waits = [retryAfterMs(header, now), retryDelayMs(error), memberMs(error, now), memberMs(envelopeOf(body), now)]
  if (isRateLimit) waits.push(resetMs(header, now))
  waits.push(retryAfterMs(inner, now))
  if (isRateLimit) waits.push(resetMs(inner, now), waitInWords(text))
  const wait = waits.find((wait) => wait) ?? (waits.includes(0) ? 0 : undefined)
  return wait === undefined ? undefined : Math.min(wait, MAX_MS)
}

function retryAfterMs(header: Refusal['header'], now: number): number | undefined {
  const ms = longest(header('retry-after-ms'), count)
  if (ms) return ms
  return longest(header('retry-after'), (text) => waitUntil(text, now) ?? untilDate(text, now)) ?? ms
}

/** Of the waits in a header, which a proxy may have joined out of several. */
function longest(header: string | undefined, read: (text: string) => number | undefined): number | undefined {
  const said = header?.match(JOINED)?.map((text) => read(text.trim())) ?? []
  const waits = said.filter((wait) => wait !== undefined)
  return waits.length > 0 ? Math.max(...waits) : undefined
}

/** The comma behind the day of the week belongs to the date. */
const JOINED = /\s*(?:[A-Z][a-z]+, )?[^,]+/g

function untilDate(text: string, now: number): number | undefined {
  const date = parseHttpDate(text, now)
  return date === undefined ? undefined : Math.max(0, date - now)
}

const count = (text: string | undefined) =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined

/** `retry_after` and the like: seconds, or a duration. */
function memberMs(error: JsonObject, now: number): number | undefined {
  for (const { retry_after_ms, retry_after, retry_after_seconds, retryAfter } of [error, metadataOf(error)]) {
    const ms = count(texted(retry_after_ms))
    if (ms !== undefined) return ms
    const wait = [retry_after, retry_after_seconds, retryAfter].map((said) => waitUntil(texted(said), now))
    const found = wait.find((ms) => ms !== undefined)
    if (found !== undefined) return found
  }
  return undefined
}

const texted = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

const metadataOf = ({ metadata }: JsonObject): JsonObject => (isObject(metadata) ? metadata : {})

/** Google's endpoint for OpenAI's clients puts its errors into an array. */
function envelopeOf(body: unknown): JsonObject {
  const envelope: unknown = Array.isArray(body) ? body[0] : body
  return isObject(envelope) ? envelope : {}
}

function errorIn(body: unknown): JsonObject {
  const { error } = envelopeOf(body)
  return isObject(error) ? error : {}
}

/** `details[].retryDelay` (google.rpc.RetryInfo), as Google writes it or as its libraries hold it. */
function retryDelayMs({ details }: JsonObject): number | undefined {
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isObject(detail)) continue
    const { retryDelay: delay } = detail
    if (typeof delay === 'string') return durationMs(delay)
    if (isObject(delay)) return secondsMs(delay)
  }
  return undefined
}

function secondsMs({ seconds = 0, nanos = 0 }: JsonObject): number | undefined {
  const ms = Number(seconds) * 1_000 + Number(nanos) / 1e6
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}

/** `metadata.headers`: those of the provider behind a router. */
function innerHeader(error: JsonObject): Refusal['header'] {
  const { headers } = metadataOf(error)
  const byName = new Map(
    Object.entries(isObject(headers) ? headers : {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
  return (name) => byName.get(name)
}
