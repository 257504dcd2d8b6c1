import { guarded } from './lib/call.ts'
import type { PendingAnswer, UpstreamCall, UpstreamFetch } from './lib/exchange.ts'
import { FetchCall } from './lib/fetch-call.ts'
import { isObject } from './lib/json.ts'
import { createLookout, type Lookout } from './lib/lookout.ts'
import { inLists, type StartTimer } from './lib/timer-list.ts'
import type { Clock, Logger } from './types.ts'

const { Bun: bun } = globalThis as { Bun?: { env?: Record<string, string | undefined> } } // the runtime's global
const isBun = bun !== undefined
const isDeno = 'Deno' in globalThis

const startTimer: StartTimer = (ms, onTime) => {
  const timer = setTimeout(onTime, ms)
  return () => clearTimeout(timer)
}

const startListed = inLists(startTimer, () => performance.now())
const platformSetTimeout = setTimeout

/** A timer in a list, unless a test has put a time of its own in place of the platform's, which Bun's own tests show by `clock`. */
const startShared: StartTimer = (ms, onTime) =>
  (setTimeout === platformSetTimeout && !('clock' in setTimeout) ? startListed : startTimer)(ms, onTime)

/**
 * The clock of the platform. Timers are in lists where those of the platform cost most, on Bun and Deno. Node has such lists itself, and on
 * Workers no timer may outlive the request that started it.
 */
export const platformClock: Clock = {
  now: () => Date.now(),
  setTimer: isBun || isDeno ? startShared : startTimer,
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      }, ms)
      function onAbort() {
        clearTimeout(timer)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort, { once: true })
    }),
}

/**
 * Is a request body that is refused held, its reader taken? `Deno.serve` reads one that is cancelled or not touched to its end, however long
 * it is; of one whose reader waits, it takes nothing more.
 */
export const holdsRefusedBodies: boolean = isDeno

/** How long a client may go on sending after an answer that closes its connection, in ms: one that is cut off sooner loses the answer. */
const LINGER_MS = 500

/**
 * Awaited before the end of an answer that closes the connection. Bun closes at once, over the head of a client that still sends; Node's
 * mount waits by itself.
 */
export const lingerBeforeClose: (() => Promise<void>) | undefined = isBun
  ? () => new Promise((resolve) => setTimeout(resolve, LINGER_MS))
  : undefined

/** A random number in [0, 1); not for secrets. */
export const platformRandom = (): number => Math.random()

/** For `logger: false`. */
export const silentLogger: Logger = { warn() {}, error() {} }

const { setImmediate } = globalThis as { setImmediate?: (task: () => void) => unknown }
let turn: Promise<void> | undefined

/**
 * Resolves at the end of the event loop's current turn, for all callers together; at once where the platform has no `setImmediate`.
 * Handling many requests in one batch keeps caches warm, and wakes threads and peers once a turn instead of once a request. Costs nothing
 * when little happens.
 */
export function turnEnd(): Promise<void> {
  turn ??= new Promise((resolve) => {
    const end = () => {
      turn = undefined
      resolve()
    }
    if (setImmediate) setImmediate(end)
    else end()
  })
  return turn
}

/**
 * Where requests and answers are batched by turn, resolves when the batch begins. On Bun, which delivers each by itself, batching pays.
 */
export const requestTurn: typeof turnEnd | undefined = isBun ? turnEnd : undefined

const lookout = createLookout((look) => setTimeout(look, 20))

/**
 * The lookout for a request that comes with `server`. Requests of `Bun.serve` tell also those who ask late that their client has left, and a
 * listener costs as much as several steps of the pipeline: it is added after 20 ms, to requests that are not over by then.
 */
export const lookoutFor = (server: unknown): Lookout | undefined =>
  isBun && isObject(server) && 'requestIP' in server ? lookout : undefined

/** Bound functions, proxies and Bun's mocks say that they are native, too. */
const isBunFetch = () =>
  fetch.name === 'fetch' &&
  /^function fetch\(\)\s*\{\s*\[native code\]/.test(Function.prototype.toString.call(fetch)) &&
  Object.getPrototypeOf(fetch) === Function.prototype

/** Bun's own `fetch`, unless the host had put another in its place before. It ends a call at once when its signal says so. */
const bunFetch = isBun && isBunFetch() ? fetch : undefined

/** What Bun makes of the variable when it starts; 256 unless it names another number. */
const bunCalls = Number(bun?.env?.BUN_CONFIG_MAX_HTTP_REQUESTS) || 256

/** How many calls the platform's own `fetch` makes at once, while the others wait without a word. */
export const callsAtOnce = (): number => (isBun && fetch === bunFetch ? bunCalls : Number.POSITIVE_INFINITY)

let gathering: Promise<void> | undefined

/**
 * Resolves a microtask later, for all callers together. The requests of a batch come to their calls at nearly the same time: made one directly
 * behind the other, these wake Bun's HTTP thread once, which otherwise interrupts the work between them.
 */
function gather(): Promise<void> {
  gathering ??= Promise.resolve().then(() => {
    gathering = undefined
  })
  return gathering
}

/**
 * The controllers of finished calls by Bun's own `fetch`, at most as many as there were calls at once. To make one costs as much as several
 * steps of the pipeline.
 */
const pool: AbortController[] = []

/** A call on Bun, whose answers are batched as its requests are (`requestTurn`). That of another `fetch` than its own is guarded. */
function bunCall(call: UpstreamCall): PendingAnswer {
  if (fetch === bunFetch) return new FetchCall(fetch, call, { gather, turn: turnEnd, pool })
  return guarded(new FetchCall(fetch, call, { turn: turnEnd }))
}

const anyFetch = (input: string, init?: RequestInit) => fetch(input, init)

/** The platform's own `fetch`, or what the host has put in its place. */
export const platformFetch: UpstreamFetch = isBun ? Object.assign(anyFetch, { raw: bunCall }) : anyFetch

/** Workers take an exported function for the class of a Durable Object, even one that has a `fetch` property. */
export const isWorkers = (): boolean => 'navigator' in globalThis && navigator.userAgent === 'Cloudflare-Workers'
