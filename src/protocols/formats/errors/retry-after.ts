import { isObject, type JsonObject } from '../../../lib/json.ts'

/** The parts of a provider's error response that may specify how long to wait. */
interface WaitSource {
  header(name: string): string | undefined
  /** The body: parsed JSON, or text. */
  body: unknown
  /** Epoch ms. */
  nowMs: number
  /** The message, without text that it quotes from the request. */
  text?: string
  /** Whether the error is a rate limit. Otherwise, its message and rate-limit headers aren't read, because providers always send those headers. */
  isRateLimit: boolean
}

/** Longer waits are capped at one hour. */
const MAX_WAIT_MS = 60 * 60 * 1_000

/**
 * Reads the wait that an error requests, in ms, at most an hour. It may be in `retry-after-ms`, in `retry-after` (seconds, a duration, or a date), in
 * Google's `RetryInfo`, in an error field, in a reset header, in headers that OpenRouter forwards in its error, or in the message. Returns 0 ("now")
 * only if no other source gives a longer wait.
 */
export function readWaitMs({ header, body, nowMs, text = '', isRateLimit }: WaitSource): number | undefined {
  const error = getError(body)
  const getForwardedHeader = createForwardedHeaderLookup(error)
  const waits = [
    readRetryAfter(header, nowMs),
    readRetryDelay(error),
    readErrorFields(error, nowMs),
    readErrorFields(getEnvelope(body), nowMs),
  ]
  if (isRateLimit) waits.push(readResetWait(header, nowMs))
  waits.push(readRetryAfter(getForwardedHeader, nowMs))
  if (isRateLimit) waits.push(readResetWait(getForwardedHeader, nowMs), parseWait(text))
  const waitMs = waits.find((wait) => wait) ?? (waits.includes(0) ? 0 : undefined)
  return waitMs === undefined ? undefined : Math.min(waitMs, MAX_WAIT_MS)
}

function readRetryAfter(header: WaitSource['header'], nowMs: number): number | undefined {
  const ms = readLongestWait(header('retry-after-ms'), parseNumber)
  if (ms) return ms
  return (
    readLongestWait(header('retry-after'), (text) => parseWaitValue(text, nowMs) ?? parseDateWait(text, nowMs)) ?? ms
  )
}

/** Reads the longest wait in a header. A proxy may have joined several headers. */
function readLongestWait(header: string | undefined, parse: (text: string) => number | undefined): number | undefined {
  const parsedWaits = header?.match(HEADER_VALUE_PATTERN)?.map((text) => parse(text.trim())) ?? []
  const waits = parsedWaits.filter((wait) => wait !== undefined)
  return waits.length > 0 ? Math.max(...waits) : undefined
}

/** Matches each value in a joined header. The comma after the day of the week is part of the date. */
const HEADER_VALUE_PATTERN = /\s*(?:[A-Z][a-z]+, )?[^,]+/g

function parseDateWait(text: string, nowMs: number): number | undefined {
  const date = parseHttpDate(text, nowMs)
  return date === undefined ? undefined : Math.max(0, date - nowMs)
}

const parseNumber = (text: string | undefined) =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined

/** Reads `retry_after` and similar fields: seconds, or a duration. */
function readErrorFields(error: JsonObject, nowMs: number): number | undefined {
  for (const { retry_after_ms, retry_after, retry_after_seconds, retryAfter } of [error, getMetadata(error)]) {
    const ms = parseNumber(toText(retry_after_ms))
    if (ms !== undefined) return ms
    const waits = [retry_after, retry_after_seconds, retryAfter].map((value) => parseWaitValue(toText(value), nowMs))
    const waitMs = waits.find((ms) => ms !== undefined)
    if (waitMs !== undefined) return waitMs
  }
  return undefined
}

const toText = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : undefined)

const getMetadata = ({ metadata }: JsonObject): JsonObject => (isObject(metadata) ? metadata : {})

/** Returns the object that contains the error. Google's endpoint for OpenAI clients sends errors in an array. */
function getEnvelope(body: unknown): JsonObject {
  const envelope: unknown = Array.isArray(body) ? body[0] : body
  return isObject(envelope) ? envelope : {}
}

function getError(body: unknown): JsonObject {
  const { error } = getEnvelope(body)
  return isObject(error) ? error : {}
}

/** Reads `details[].retryDelay` (google.rpc.RetryInfo), as Google writes it or as its libraries store it. */
function readRetryDelay({ details }: JsonObject): number | undefined {
  for (const detail of Array.isArray(details) ? details : []) {
    if (!isObject(detail)) continue
    const { retryDelay: delay } = detail
    if (typeof delay === 'string') return parseDuration(delay)
    if (isObject(delay)) return toMs(delay)
  }
  return undefined
}

function toMs({ seconds = 0, nanos = 0 }: JsonObject): number | undefined {
  const ms = Number(seconds) * 1_000 + Number(nanos) / 1e6
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}

/** Reads `metadata.headers`: the response headers of the provider that a router called. */
function createForwardedHeaderLookup(error: JsonObject): WaitSource['header'] {
  const { headers } = getMetadata(error)
  const headersByName = new Map(
    Object.entries(isObject(headers) ? headers : {}).map(([name, value]) => [name.toLowerCase(), String(value)]),
  )
  return (name) => headersByName.get(name)
}

/** Reads the time until the exhausted limit resets, in ms from `nowMs` (epoch ms). Supports vendor headers and the headers of IETF drafts. */
function readResetWait(header: WaitSource['header'], nowMs: number): number | undefined {
  const separateLimits: RateLimit[] = RESET_NAMES.map((names) => ({
    remaining: header(names.remaining),
    reset: header(names.reset),
  }))
  const waits = [...separateLimits, ...parseJoinedLimits(header('ratelimit'))].flatMap(({ reset, remaining }) => {
    const wait = parseWaitValue(reset, nowMs)
    return wait === undefined ? [] : [{ wait, remainingCount: remaining === undefined ? undefined : Number(remaining) }]
  })
  const exhaustedWaits = waits.filter(({ remainingCount }) => remainingCount === 0).map(({ wait }) => wait)
  if (exhaustedWaits.length > 0) return Math.max(...exhaustedWaits)
  const unknownWaits = waits.filter(({ remainingCount }) => remainingCount === undefined).map(({ wait }) => wait)
  if (unknownWaits.length > 0) return Math.min(...unknownWaits) // it isn't known which limit is exhausted
  return waits.length === 1 ? waits[0]?.wait : undefined
}

interface RateLimit {
  reset: string | undefined
  remaining: string | undefined
}

const RESET_NAMES = [
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

/** Parses `"default";r=0;t=50, "daily";r=9;t=3600`, or an earlier draft: `limit=100, remaining=0, reset=50`. */
function parseJoinedLimits(text: string | undefined): RateLimit[] {
  if (text === undefined) return []
  const limits = /\breset=/.test(text) ? [text] : text.split(',')
  return limits.map((limit) => ({
    reset: /\b(?:t|reset)=(\d+)/.exec(limit)?.[1],
    remaining: /\b(?:r|remaining)=(\d+)/.exec(limit)?.[1],
  }))
}

/** Parses a duration ("6m0s", "1.5s", "20ms"), seconds, epoch seconds, epoch ms, or an RFC 3339 date. Returns ms from `nowMs` (epoch ms). */
function parseWaitValue(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text)
    return number < MIN_EPOCH_SECONDS
      ? number * 1000
      : Math.max(0, (number < MIN_EPOCH_MS ? number * 1000 : number) - nowMs)
  }
  const date = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? parseDuration(text) : Math.max(0, date - nowMs)
}

const MIN_EPOCH_SECONDS = 1e9
const MIN_EPOCH_MS = 1e12

/** Parses the wait that a sentence requests, in ms: "try again in 1m30.5s", "Please retry after 59 seconds", "wait 5 minutes before retrying". */
export function parseWait(text: string): number | undefined {
  const waitText = WAIT_PATTERN.exec(text.slice(0, MAX_CHARACTERS))?.[1]
  if (waitText === undefined) return undefined
  let ms = 0
  for (const [, amount, unit = 's'] of waitText.matchAll(DURATION_PART_PATTERN))
    ms += Number(amount) * (MS_PER_UNIT[unit.toLowerCase()] ?? 0)
  return ms
}

/** Maximum characters to search. Vendors put the wait at the beginning. */
const MAX_CHARACTERS = 2_000

const DURATION_SOURCE = String.raw`\d{1,9}(?:\.\d{1,9})?\s?(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|h|days?|d)(?![a-z])`
const WAIT_PATTERN = new RegExp(
  String.raw`\b(?:(?:try again|retry(?: your requests?)?) (?:in|after)|resets? in|wait(?: for)?) (${DURATION_SOURCE}(?:,? ?(?:and )?${DURATION_SOURCE}){0,3})`,
  'i',
)
const DURATION_PART_PATTERN = /(?<![\d.])(\d+(?:\.\d+)?)\s?(milli|ms|[smhd])/gi

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  milli: 1,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Parses a duration such as "34.4s", "6m0s", or "20ms". Returns ms, or `undefined` for any other text. */
function parseDuration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit = ''] of text.matchAll(/(?<![\d.])(\d+(?:\.\d+)?)(ms|[dhms])/g))
    ms += Number(amount) * (MS_PER_UNIT[unit] ?? 0)
  return ms
}

/** Parses an HTTP date in any of the three formats (RFC 9110, 5.6.7). Returns epoch ms, or `undefined` for any other text. */
function parseHttpDate(text: string, nowMs: number): number | undefined {
  if (/^[A-Z][a-z]{2}, \d/.test(text)) return parseDate(text)
  const shortYearMatch = /^[A-Z][a-z]+, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d:\d\d:\d\d) GMT$/.exec(text)
  if (shortYearMatch) {
    const [, day, month, year, time] = shortYearMatch
    return parseDate(`${day} ${month} ${toFullYear(Number(year), nowMs)} ${time} GMT`)
  }
  const asctimeMatch = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d\d?) (\d\d:\d\d:\d\d) (\d{4})$/.exec(text) // the format of C's `asctime`
  if (!asctimeMatch) return undefined
  const [, month, day, time, year] = asctimeMatch
  return parseDate(`${day} ${month} ${year} ${time} GMT`)
}

function parseDate(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** Completes a two-digit year. A year more than 50 years ahead is in the previous century (RFC 9110). */
function toFullYear(year: number, nowMs: number): number {
  const fullYear = 2000 + year
  return fullYear > new Date(nowMs).getUTCFullYear() + 50 ? fullYear - 100 : fullYear
}
