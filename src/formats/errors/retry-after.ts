import { isObject, type JsonObject } from '../../lib/json.ts'

/** The parts of a provider's error answer that may contain a wait. */
export interface WaitSource {
  header(name: string): string | undefined
  /** Its body: parsed JSON, or text. */
  body: unknown
  /** Epoch ms. */
  now: number
  /** Its message, without quotations of the request. */
  text?: string
  /** Is it a rate limit? Only then are its message and its rate-limit headers, which providers always send, read. */
  isRateLimit: boolean
}

/** Longer waits are cut to this: an hour. */
const MAX_MS = 60 * 60 * 1_000

/**
 * The wait that a refusal asks for, in ms, an hour at most: `retry-after-ms`, `retry-after` as seconds, a duration or a date, Google's
 * `RetryInfo`, a member of the error, a reset header, headers that OpenRouter hands on in its error, and its message. 0, which means "now",
 * only if there is no longer wait.
 */
export function askedWaitMs({ header, body, now, text = '', isRateLimit }: WaitSource): number | undefined {
  const error = errorIn(body)
  const inner = innerHeader(error)
  const waits = [retryAfterMs(header, now), retryDelayMs(error), memberMs(error, now), memberMs(envelopeOf(body), now)]
  if (isRateLimit) waits.push(resetMs(header, now))
  waits.push(retryAfterMs(inner, now))
  if (isRateLimit) waits.push(resetMs(inner, now), waitInWords(text))
  const wait = waits.find((wait) => wait) ?? (waits.includes(0) ? 0 : undefined)
  return wait === undefined ? undefined : Math.min(wait, MAX_MS)
}

function retryAfterMs(header: WaitSource['header'], now: number): number | undefined {
  const ms = longest(header('retry-after-ms'), count)
  if (ms) return ms
  return longest(header('retry-after'), (text) => waitUntil(text, now) ?? untilDate(text, now)) ?? ms
}

/** The longest wait in a header; a proxy may have joined several headers. */
function longest(header: string | undefined, read: (text: string) => number | undefined): number | undefined {
  const found = header?.match(JOINED)?.map((text) => read(text.trim())) ?? []
  const waits = found.filter((wait) => wait !== undefined)
  return waits.length > 0 ? Math.max(...waits) : undefined
}

/** The comma after the day of the week belongs to the date. */
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
    const ms = count(textOf(retry_after_ms))
    if (ms !== undefined) return ms
    const wait = [retry_after, retry_after_seconds, retryAfter].map((value) => waitUntil(textOf(value), now))
    const found = wait.find((ms) => ms !== undefined)
    if (found !== undefined) return found
  }
  return undefined
}

const textOf = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

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

/** `metadata.headers`: the headers of the provider that a router has called. */
function innerHeader(error: JsonObject): WaitSource['header'] {
  const { headers } = metadataOf(error)
  const byName = new Map(
    Object.entries(isObject(headers) ? headers : {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
  return (name) => byName.get(name)
}

/** The ms from `now` (epoch ms) until the exhausted limit resets, by the headers of vendors and IETF drafts. */
function resetMs(header: WaitSource['header'], now: number): number | undefined {
  const waits = [...separate(header), ...together(header('ratelimit'))].flatMap(({ reset, remaining }) => {
    const wait = waitUntil(reset, now)
    return wait === undefined ? [] : [{ wait, left: remaining === undefined ? undefined : Number(remaining) }]
  })
  const spent = waits.filter(({ left }) => left === 0).map(({ wait }) => wait)
  if (spent.length > 0) return Math.max(...spent)
  const unknown = waits.filter(({ left }) => left === undefined).map(({ wait }) => wait)
  if (unknown.length > 0) return Math.min(...unknown) // it is not known which limit was exhausted
  return waits.length === 1 ? waits[0]?.wait : undefined
}

interface Limit {
  reset: string | undefined
  remaining: string | undefined
}

const NAMES = [
  'x-ratelimit-%-requests',
  'x-ratelimit-%-tokens',
  'x-ratelimit-%-requests-minute',
  'x-ratelimit-%-requests-day',
  'x-ratelimit-%-tokens-minute',
  'x-ratelimit-%-tokens-day',
  'x-ratelimit-%',
  'x-ratelimit-%-after',
  'ratelimit-%',
  'anthropic-ratelimit-requests-%',
  'anthropic-ratelimit-tokens-%',
  'anthropic-ratelimit-input-tokens-%',
  'anthropic-ratelimit-output-tokens-%',
  'anthropic-ratelimit-unified-%',
].map((name) => ({ remaining: name.replace('%', 'remaining'), reset: name.replace('%', 'reset') }))

const separate = (header: WaitSource['header']): Limit[] =>
  NAMES.map(({ remaining, reset }) => ({ remaining: header(remaining), reset: header(reset) }))

/** `"default";r=0;t=50, "daily";r=9;t=3600`, or as an earlier draft had it: `limit=100, remaining=0, reset=50`. */
function together(text: string | undefined): Limit[] {
  if (text === undefined) return []
  const limits = /\breset=/.test(text) ? [text] : text.split(',')
  return limits.map((limit) => ({
    reset: /\b(?:t|reset)=(\d+)/.exec(limit)?.[1],
    remaining: /\b(?:r|remaining)=(\d+)/.exec(limit)?.[1],
  }))
}

/** A duration ("6m0s", "1.5s", "20ms"), seconds, epoch seconds, epoch ms, or a date as in RFC 3339, as ms from `now` (epoch ms). */
function waitUntil(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text)
    return number < EPOCH_SECONDS ? number * 1000 : Math.max(0, (number < EPOCH_MS ? number * 1000 : number) - now)
  }
  const date = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? durationMs(text) : Math.max(0, date - now)
}

const EPOCH_SECONDS = 1e9
const EPOCH_MS = 1e12

/** The wait that a sentence asks for, in ms: "try again in 1m30.5s", "Please retry after 59 seconds", "wait 5 minutes before retrying". */
export function waitInWords(text: string): number | undefined {
  const asked = ASKS.exec(text.slice(0, MAX_WORDS))?.[1]
  if (asked === undefined) return undefined
  let ms = 0
  for (const [, amount, unit = 's'] of asked.matchAll(PART)) ms += Number(amount) * (UNITS[unit.toLowerCase()] ?? 0)
  return ms
}

/** In characters: vendors name the wait at the beginning. */
const MAX_WORDS = 2_000

const DURATION = String.raw`\d{1,9}(?:\.\d{1,9})?\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])`
const ASKS = new RegExp(
  String.raw`\b(?:(?:try again|retry(?: your requests?)?) (?:in|after)|resets? in|wait(?: for)?) (${DURATION}(?:,? ?(?:and )?${DURATION}){0,3})`,
  'i',
)
const PART = /(?<![\d.])(\d+(?:\.\d+)?)\s?(milli|ms|[smhd])/gi

const UNITS: Readonly<Record<string, number>> = {
  milli: 1,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** A duration such as "34.4s", "6m0s" or "20ms", in ms; `undefined` for any other text. */
function durationMs(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit = ''] of text.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)(ms|[dhms])/g))
    ms += Number(amount) * (UNITS[unit] ?? 0)
  return ms
}

/** A date of HTTP in any of its three forms (RFC 9110, 5.6.7), as epoch ms; `undefined` when the text is none. */
function parseHttpDate(text: string, now: number): number | undefined {
  if (/^[A-Z][a-z]{2}, \d/.test(text)) return parsed(text)
  const short = /^[A-Z][a-z]+, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d:\d\d:\d\d) GMT$/.exec(text)
  if (short) {
    const [, day, month, year, time] = short
    return parsed(`${day} ${month} ${fullYear(Number(year), now)} ${time} GMT`)
  }
  const old = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d\d?) (\d\d:\d\d:\d\d) (\d{4})$/.exec(text) // of asctime in C
  if (!old) return undefined
  const [, month, day, time, year] = old
  return parsed(`${day} ${month} ${year} ${time} GMT`)
}

function parsed(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** A two-digit year that would be more than 50 years ahead is of the last century (RFC 9110). */
function fullYear(year: number, now: number): number {
  const guess = 2000 + year
  return guess > new Date(now).getUTCFullYear() + 50 ? guess - 100 : guess
}
