import { durationMs } from './duration.ts'

/** The ms from `now` (epoch ms) until the exhausted limit resets, by the headers of vendors and IETF drafts. */
export function resetMs(header: (name: string) => string | undefined, now: number): number | undefined {
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

const separate = (header: (name: string) => string | undefined): Limit[] =>
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
export function waitUntil(text: string | undefined, now: number): number | undefined {
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
