import type { Clock } from '../types.ts'
import { startDeadline } from './deadline.ts'

interface Work {
  cancel(reason: unknown): void
}

/** The requests under way, so that a closing gateway can wait for them and finally cancel them. */
export interface InFlight {
  add(work: Work): InFlightEntry
  /** May be called more than once. */
  remove(entry: InFlightEntry): void
  /** Waits until none is left, for at most `graceMs`; then cancels the rest with `reason`, and waits for them up to a second. */
  drain(clock: Clock, graceMs: number, reason: unknown): Promise<void>
}

/** Cancelled requests answer and call their hooks at once, unless the storage hangs. */
const LAST_WORDS_MS = 1_000

/** A request under way, as `add` has filed it. */
export interface InFlightEntry {
  readonly work: Work
  /** Its place among the others. */
  at: number
}

/**
 * Kept in an array where the last entry fills the gap of one that is removed. A `Set` with this rate of changes leaves outgrown tables
 * behind, which keep more than half of the finished requests alive until the next major garbage collection.
 */
export function createInFlight(): InFlight {
  const entries: InFlightEntry[] = []
  const waiting = new Set<() => void>()

  function remove(entry: InFlightEntry) {
    if (entries[entry.at] !== entry) return // a second time
    const last = entries.pop()
    if (last && last !== entry) {
      entries[entry.at] = last
      last.at = entry.at
    }
    if (entries.length === 0) for (const leave of waiting) leave()
  }

  function emptyWithin(clock: Clock, ms: number) {
    return new Promise<void>((resolve) => {
      if (entries.length === 0) return resolve()
      const deadline = startDeadline(clock, ms, leave)
      waiting.add(leave)
      function leave() {
        deadline.cancel()
        waiting.delete(leave)
        resolve()
      }
    })
  }

  return {
    add(work) {
      const entry = { work, at: entries.length }
      entries.push(entry)
      return entry
    },
    remove,
    async drain(clock, graceMs, reason) {
      await emptyWithin(clock, graceMs)
      for (const { work } of [...entries]) work.cancel(reason) // which may take it out
      await emptyWithin(clock, LAST_WORDS_MS)
    },
  }
}
