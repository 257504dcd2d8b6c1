import type { Clock } from '../../src/types.ts'

/** Time that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves time by `ms`, waking each sleeper at its own moment and letting what it woke settle before the next. */
  advance(ms: number): Promise<void>
  /** How many sleeps have neither ended nor been aborted. */
  pending(): number
  /** Waits until at least `count` sleeps are under way: then the code under test has come to its wait. */
  untilPending(count?: number): Promise<void>
}

interface Sleeper {
  due: number
  wake(): void
}

/** A clock for tests, at 2026-01-01T00:00:00Z unless told otherwise. */
export function fakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const sleepers = new Set<Sleeper>() // in the order of their creation
  let nowMs = startMs

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      if (ms <= 0) return resolve()
      const leave = () => {
        sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
      }
      const onAbort = () => {
        leave()
        reject(signal?.reason)
      }
      const sleeper = {
        due: nowMs + ms,
        wake() {
          leave()
          resolve()
        },
      }
      sleepers.add(sleeper)
      signal?.addEventListener('abort', onAbort)
    })
  }

  async function advance(ms: number): Promise<void> {
    const target = nowMs + ms
    await settle()
    for (let next = earliest(); next && next.due <= target; next = earliest()) {
      nowMs = Math.max(nowMs, next.due)
      next.wake()
      await settle()
    }
    nowMs = Math.max(nowMs, target)
  }

  function earliest(): Sleeper | undefined {
    let first: Sleeper | undefined
    for (const sleeper of sleepers) if (!first || sleeper.due < first.due) first = sleeper
    return first
  }

  async function untilPending(count = 1): Promise<void> {
    while (sleepers.size < count) await turn()
  }

  return { now: () => nowMs, sleep, advance, pending: () => sleepers.size, untilPending }
}

const TURNS = 5 // enough for promises that hop through the event loop: streams, message ports, files in the cache

async function settle(): Promise<void> {
  for (let left = TURNS; left > 0; left--) {
    do await turn()
    while (ciphering > 0)
  }
}

/** Calls under way of the platform's cryptography, which works beside the event loop and takes as long as the machine likes. */
let ciphering = 0

for (const name of [
  'decrypt',
  'deriveBits',
  'deriveKey',
  'digest',
  'encrypt',
  'importKey',
  'sign',
  'verify',
] as const) {
  const own: (...args: never[]) => Promise<unknown> = SubtleCrypto.prototype[name]
  const counted = async function (this: unknown, ...args: unknown[]) {
    ciphering++
    try {
      return await Reflect.apply(own, this, args)
    } finally {
      ciphering--
    }
  }
  Object.defineProperty(SubtleCrypto.prototype, name, { value: counted, configurable: true, writable: true })
}

/** One turn of the event loop, in which every promise that can settle does. */
const turn = (): Promise<void> =>
  new Promise((resolve) => ('setImmediate' in globalThis ? setImmediate(resolve) : setTimeout(resolve, 0)))
