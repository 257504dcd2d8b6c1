import { memoryStorage } from '../../../adapters/storage/memory.ts'
import type { NewCombo } from '../../../src/admin/combos.ts'
import { createGateway } from '../../../src/gateway.ts'
import type { Catalog, Clock } from '../../../src/types.ts'
import { chatResponse } from '../../pipeline/support/responses.ts'
import { loadLateParts } from '../../pipeline/support/under-load.ts'
import { createRandom, type Random } from '../../support/random.ts'

/** How a simulated provider responds to a call at `ms` after the start: with a response, or by throwing an error. */
export type Behaviour = (ms: number, random: Random) => Response | Error

export interface Simulated {
  /** The providers by ID. Each has one connection and the model `m`. */
  providers: Record<string, Behaviour>
  combo?: Omit<NewCombo, 'name' | 'models'>
  /** The number of clients, each of which sends requests sequentially. Default: 100. */
  clients?: number
  /** The duration of the simulation, in s. Default: 10. */
  seconds?: number
}

/** The outcome of a simulation. */
export interface Outcome {
  callsTo: Record<string, number>
  /** The requests and calls that started, and the requests that failed, in each second. */
  perSecond: Second[]
  seed: number
}

interface Second {
  requests: number
  calls: number
  failed: number
}

/** Sums a value, starting at the second `from`. */
export const getSum = ({ perSecond }: Outcome, label: keyof Second, from = 0): number =>
  perSecond.slice(from).reduce((total, second) => total + second[label], 0)

/** Returns the percentage of failed requests, starting at the second `from`. */
export const failedShare = (outcome: Outcome, from = 0): number =>
  (100 * getSum(outcome, 'failed', from)) / getSum(outcome, 'requests', from)

/** A successful response. */
export const fine: Behaviour = () => Response.json(chatResponse())

/** Creates a behavior that fails with this status and no other details. */
export const createBroken =
  (status = 500): Behaviour =>
  () =>
    Response.json({ error: { message: 'The server had an error' } }, { status })

/** Rejects all connections. */
export const unreachable: Behaviour = () =>
  Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  })

/** Fails a random `share` of all calls: exactly that share of every hundred, in each of these ways in turn. */
export function failingAtRandom(share: number, ...ways: readonly [Behaviour, ...Behaviour[]]): Behaviour {
  let block: boolean[] = []
  let failures = 0
  return (ms, random) => {
    if (block.length === 0) block = shuffle(100, share * 100, random)
    const way = block.pop() ? ways[failures++ % ways.length] : undefined
    return (way ?? fine)(ms, random)
  }
}

/** Returns `count` values in random order, of which `marked` are true. */
function shuffle(count: number, marked: number, random: Random): boolean[] {
  const values = Array.from({ length: count }, (_, index) => index < marked)
  for (let index = count - 1; index > 0; index--) {
    const other = random.below(index + 1)
    const [first = false, two = false] = [values[index], values[other]]
    values[index] = two
    values[other] = first
  }
  return values
}

/**
 * Simulates clients that send requests through `gateway.fetch` sequentially, on a clock that stops while anything is running. Calls take 50 to 150
 * ms. They end at multiples of 10 ms, so the clock has few steps.
 */
export async function simulate({ providers, combo = {}, clients = 100, seconds = 10 }: Simulated): Promise<Outcome> {
  await loadLateParts()
  const random = createRandom()
  const clock = steppedClock()
  const startMs = clock.now()
  const seen: Outcome = {
    callsTo: {},
    perSecond: [],
    seed: random.seed,
  }

  function count(label: keyof Second) {
    const timestamp = Math.floor((clock.now() - startMs) / 1_000)
    while (seen.perSecond.length <= timestamp) seen.perSecond.push({ requests: 0, calls: 0, failed: 0 })
    const second = seen.perSecond[timestamp]
    if (second) second[label]++
  }

  async function respond(url: string, signal: AbortSignal | null | undefined): Promise<Response> {
    const provider = new URL(url).hostname.replace('.test', '')
    count('calls')
    seen.callsTo[provider] = (seen.callsTo[provider] ?? 0) + 1
    await clock.sleep(10 * (5 + random.below(11)), signal ?? undefined)
    const output = (providers[provider] ?? fine)(clock.now() - startMs, random)
    if (output instanceof Error) throw output
    return output
  }

  const names = Object.keys(providers)
  const catalog: Catalog = Object.fromEntries(
    names.map((name) => [name, { baseUrl: `http://${name}.test/v1`, models: [{ id: 'm' }] }]),
  )
  const gateway = createGateway({
    storage: memoryStorage({ clock }),
    clock,
    catalog,
    fetch: (input: string | URL | Request, init?: RequestInit) => respond(String(input), init?.signal),
    logger: false,
    limits: { storeMaxAgeMs: 3_600_000 },
  })
  for (const provider of names) await gateway.api.connections.create({ provider, apiKey: `secret-of-${provider}` })
  const models = names.map((name) => `${name}/m`)
  await gateway.api.combos.create({ name: 'list', strategy: 'round-robin', ...combo, models })

  const endMs = startMs + seconds * 1_000
  async function client() {
    while (clock.now() < endMs) {
      count('requests')
      const response = await gateway.fetch(
        new Request('http://gateway/v1/chat/completions', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"model":"list","messages":[{"role":"user","content":"Hello"}]}',
        }),
      )
      await response.text()
      if (response.status === 200) continue
      count('failed')
      await clock.sleep(10) // otherwise, time would never pass for a client that is rejected without a call
    }
  }
  const running = Promise.all(Array.from({ length: clients }, client))
  await clock.runUntil(endMs + 200_000, running)
  await gateway.close({ graceMs: 0 })
  return seen
}

/** Creates a clock that wakes all sleepers that are due at the same instant together. */
function steppedClock(): Clock & { runUntil(ms: number, done: Promise<unknown>): Promise<void> } {
  let nowMs = Date.UTC(2026, 0, 1)
  const due = new Map<number, Set<() => void>>()

  function setTimer(ms: number, onTime: () => void): () => void {
    const timestamp = nowMs + Math.max(1, Math.ceil(ms))
    const timers = due.get(timestamp) ?? new Set()
    due.set(timestamp, timers)
    timers.add(onTime)
    return () => {
      timers.delete(onTime)
      if (timers.size === 0) due.delete(timestamp)
    }
  }

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const cancel = setTimer(ms, () => {
        signal?.removeEventListener('abort', onAbort)
        resolve()
      })
      function onAbort() {
        cancel()
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', onAbort)
    })
  }

  return {
    now: () => nowMs,
    sleep,
    setTimer,
    async runUntil(ms, done) {
      let isDone = false
      void done.then(() => {
        isDone = true
      })
      while (!isDone && nowMs < ms) {
        for (let turns = 0; turns < 6; turns++) await new Promise((resolve) => setImmediate(resolve))
        if (due.size === 0) continue
        nowMs = Math.min(...due.keys())
        const timers = due.get(nowMs)
        due.delete(nowMs)
        for (const onTime of timers ?? []) onTime()
      }
    },
  }
}
