import type { Clock } from '../../src/types.ts'

/** A clock that only advances when a test advances it. */
export interface FakeClock extends Clock {
  /** Advances time by `ms`. Wakes each sleeper at its time, and lets the code that it wakes settle before waking the next one. */
  advance(ms: number): Promise<void>
  /** Returns the number of sleeps that have neither ended nor been aborted. */
  pending(): number
  /** Waits until at least `count` sleeps are pending, which means that the code under test has reached its wait. */
  untilPending(count?: number): Promise<void>
}

interface Sleeper {
  due: number
  wake(): void
}

/** Creates a clock for tests. By default, it starts at 2026-01-01T00:00:00Z. */
export function fakeClock(startMs = Date.UTC(2026, 0, 1)): FakeClock {
  const sleepers = new Set<Sleeper>() // in order of creation
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

const TURNS = 5 // enough for promises that take several turns of the event loop, such as streams, message ports, and cached files

async function settle(): Promise<void> {
  for (let left = TURNS; left > 0; left--) {
    do await turn()
    while (ciphering > 0)
  }
}

/** The number of pending WebCrypto calls, which run outside the event loop and take an unpredictable time. */
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
  const countTimer = async function (this: unknown, ...args: unknown[]) {
    ciphering++
    try {
      return await Reflect.apply(own, this, args)
    } finally {
      ciphering--
    }
  }
  Object.defineProperty(SubtleCrypto.prototype, name, { value: countTimer, configurable: true, writable: true })
}

/** Waits for one turn of the event loop, in which every promise that can settle does. */
const turn = (): Promise<void> =>
  new Promise((resolve) => ('setImmediate' in globalThis ? setImmediate(resolve) : setTimeout(resolve, 0)))
