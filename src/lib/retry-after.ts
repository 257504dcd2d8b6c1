import { isObject } from './json.ts'

/** The wait that an answer asks for at `now` (epoch ms), in ms: `retry-after-ms`, else `retry-after` as seconds or as a date. */
export function retryAfterMs(header: (name: string) => string | undefined, now: number): number | undefined {
  const ms = count(header('retry-after-ms'))
  if (ms !== undefined) return ms
  const after = header('retry-after')
  const seconds = count(after)
  if (seconds !== undefined) return seconds * 1000
  const date = after !== undefined && HTTP_DATE.test(after) ? Date.parse(after) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** When the limit that a refused request ran into starts anew, in ms from `now`: by the reset headers of OpenAI, Anthropic and others. */
export function resetMs(header: (name: string) => string | undefined, now: number): number | undefined {
  const waits = LIMITS.flatMap(([remaining, reset]) => {
    const wait = waitUntil(header(reset), now)
    return wait === undefined ? [] : [{ wait, isSpent: Number(header(remaining) ?? Number.NaN) === 0 }]
  })
  const spent = waits.filter(({ isSpent }) => isSpent)
  if (spent.length > 0) return Math.max(...spent.map(({ wait }) => wait))
  return waits.length === 1 ? waits[0]?.wait : undefined // of several, nobody knows which one it was
}

/** The wait in the body of a Google error: `error.details[].retryDelay`, such as "34s" (google.rpc.RetryInfo). */
export function retryDelayMs(body: unknown): number | undefined {
  const error = isObject(body) ? body.error : undefined
  const details = isObject(error) && Array.isArray(error.details) ? error.details : []
  const [delay] = details.flatMap((detail) =>
    isObject(detail) && typeof detail.retryDelay === 'string' ? [detail.retryDelay] : [],
  )
  return delay === undefined ? undefined : duration(delay)
}

const LIMITS = [
  'x-ratelimit-%-requests',
  'x-ratelimit-%-tokens',
  'x-ratelimit-%',
  'anthropic-ratelimit-requests-%',
  'anthropic-ratelimit-tokens-%',
  'anthropic-ratelimit-input-tokens-%',
  'anthropic-ratelimit-output-tokens-%',
].map((name) => [name.replace('%', 'remaining'), name.replace('%', 'reset')] as const)

/** A duration ("6m0s", "1.5s", "20ms"), seconds, epoch seconds, epoch ms, or a date as in RFC 3339. */
function waitUntil(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined
  const number = count(text)
  if (number !== undefined)
    return number < EPOCH_SECONDS ? number * 1000 : Math.max(0, (number < EPOCH_MS ? number * 1000 : number) - now)
  const date = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? duration(text) : Math.max(0, date - now)
}

const EPOCH_SECONDS = 1e9
const EPOCH_MS = 1e12

function duration(text: string): number | undefined {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit = ''] of text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g))
    ms += Number(amount) * (UNITS[unit] ?? 0)
  return ms
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const HTTP_DATE = /^[A-Z][a-z]{2}, \d/

const count = (text: string | undefined) =>
  text !== undefined && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
