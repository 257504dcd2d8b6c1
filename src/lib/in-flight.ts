import type { Clock } from '../types.ts'
import { Crowd, type Member } from './crowd.ts'
import { startDeadline } from './deadline.ts'

/** A request under way. */
export interface Work {
  /** The digest of the key that it came with, if any. */
  readonly keyDigest: string | undefined
  cancel(reason: unknown): void
}

/** The requests under way, so that a closing gateway can wait for them and finally cancel them. */
export interface InFlight {
  /** How many there are. */
  readonly size: number
  add(work: Work): InFlightEntry
  /** May be called more than once. */
  remove(entry: InFlightEntry): void
  values(): readonly Work[]
  /** Waits until none is left, for at most `graceMs`; then cancels the rest with `reason`, and waits for them up to a second. */
  drain(clock: Clock, graceMs: number, reason: unknown): Promise<void>
}

/** Cancelled requests answer and call their hooks at once, unless the storage hangs. */
const LAST_WORDS_MS = 1_000

/** A request under way, as `add` has filed it. */
export type InFlightEntry = Member<Work>

/** Makes the list of requests under way, empty. */
export function createInFlight(): InFlight {
  const requests = new Crowd<Work>()
  const waiting = new Set<() => void>()

  function remove(entry: InFlightEntry) {
    requests.remove(entry)
    if (requests.size === 0) for (const leave of waiting) leave()
  }

  function emptyWithin(clock: Clock, ms: number) {
    return new Promise<void>((resolve) => {
      if (requests.size === 0) return resolve()
      const cancelDeadline = startDeadline(clock, ms, leave)
      waiting.add(leave)
      function leave() {
        cancelDeadline()
        waiting.delete(leave)
        resolve()
      }
    })
  }

  return {
    get size() {
      return requests.size
    },
    add: (work) => requests.add(work),
    remove,
    values: () => requests.values(),
    async drain(clock, graceMs, reason) {
      await emptyWithin(clock, graceMs)
      for (const work of requests.values()) work.cancel(reason) // which may take it out
      await emptyWithin(clock, LAST_WORDS_MS)
    },
  }
}
