import type { Clock } from '../types.ts'
import { startDeadline } from './deadline.ts'

/** Work that outlives the answer it belongs to. */
export interface Background {
  /** Lets work go on by itself; `waitUntil` keeps the platform alive for it. A rejection goes to the error handler. */
  run(work: Promise<unknown>, waitUntil?: (work: Promise<unknown>) => void): void
  /** Settles when all of it has. */
  settled(): Promise<void>
}

export function createBackground(onError: (error: unknown) => void): Background {
  const running = new Set<Promise<unknown>>()
  return {
    run(work, waitUntil) {
      const tracked: Promise<unknown> = work.catch(onError).finally(() => running.delete(tracked))
      running.add(tracked)
      waitUntil?.(tracked)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** Requests under way, so that a closing gateway can wait for them and, at last, end them. */
export interface InFlight {
  add(work: { cancel(reason: unknown): void }): () => void
  /** Waits until none is left, at most `graceMs`; then cancels the rest and lets it end. */
  drain(clock: Clock, graceMs: number, reason: unknown): Promise<void>
}

export function createInFlight(): InFlight {
  const works = new Set<{ cancel(reason: unknown): void }>()
  const waiting = new Set<() => void>()

  function emptyWithin(clock: Clock, ms: number) {
    return new Promise<void>((resolve) => {
      if (works.size === 0) return resolve()
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
      works.add(work)
      return () => {
        works.delete(work)
        if (works.size === 0) for (const leave of waiting) leave()
      }
    },
    async drain(clock, graceMs, reason) {
      await emptyWithin(clock, graceMs)
      for (const work of works) work.cancel(reason)
      await emptyWithin(clock, LAST_WORDS_MS)
    },
  }
}

/** What was cancelled tells its client and its hooks so in a moment, unless the storage hangs. */
const LAST_WORDS_MS = 1_000
