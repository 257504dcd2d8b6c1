import { durationMs } from './duration.ts'
import { parseHttpDate } from './http-date.ts'
import { isObject, type JsonObject } from './json.ts'
import { resetMs } from './rate-limit-headers.ts'

/** A provider's refusal, as far as it may say how long to wait. */
export interface Refusal {
  header(name: string): string | undefined
  /** Its JSON, if it has any. */
  body: unknown
  /** Epoch ms. */
  now: number
  /** Only then do the headers about limits tell of it; they are there always. */
  isRateLimit: boolean
}

/**
 * The wait that a refusal asks for, in ms: `retry-after-ms`, `retry-after` as seconds or a date, Google's `RetryInfo`, a reset header, and
 * headers that OpenRouter hands on in its error. 0, which means "now", only when nothing says more.
 */
export function askedWaitMs({ header, body, now, isRateLimit }: Refusal): number | undefined {
  const error = errorIn(body)
  const inner = innerHeader(error)
  const waits = [retryAfterMs(header, now), retryDelayMs(error)]
  if (isRateLimit) waits.push(resetMs(header, now))
  waits.push(retryAfterMs(inner, now))
  if (isRateLimit) waits.push(resetMs(inner, now))
  return waits.find((wait) => wait) ?? (waits.includes(0) ? 0 : undefined)
}

function retryAfterMs(header: Refusal['header'], now: number): number | undefined {
  const ms = count(header('retry-after-ms'))
  const after = header('retry-after')
  if (ms || after === undefined) return ms
  const seconds = count(after)
  if (seconds !== undefined) return seconds * 1000
  const date = parseHttpDate(after, now)
  return date === undefined ? ms : Math.max(0, date - now)
}

const count = (text: string | undefined) =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined

/** Google's endpoint for OpenAI's clients puts its errors into an array. */
function errorIn(body: unknown): JsonObject {
  const envelope = Array.isArray(body) ? body[0] : body
  return isObject(envelope) && isObject(envelope.error) ? envelope.error : {}
}

/** `details[].retryDelay` (google.rpc.RetryInfo). */
function retryDelayMs({ details }: JsonObject): number | undefined {
  for (const detail of Array.isArray(details) ? details : [])
    if (isObject(detail) && typeof detail.retryDelay === 'string') return durationMs(detail.retryDelay)
  return undefined
}

/** `metadata.headers`: those of the provider behind a router. */
function innerHeader({ metadata }: JsonObject): Refusal['header'] {
  const headers = isObject(metadata) && isObject(metadata.headers) ? Object.entries(metadata.headers) : []
  const byName = new Map(headers.map(([name, value]) => [name.toLowerCase(), String(value)]))
  return (name) => byName.get(name)
}
