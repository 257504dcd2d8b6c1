import type { Awaitable } from '../lib/awaitable.ts'
import type { Clock } from '../types.ts'
import { isAway, type Rereading, readOrKept } from './away.ts'
import type { Freshness } from './freshness.ts'

/** Data of the storage in memory, read again when it may have changed. What was read stays in force while the storage is away. */
export interface Cached<T> {
  /** The data, read again if it is too old. Rejects as reading does; not for a storage that is away once there is data in memory. */
  current(): Awaitable<T>
  /** Reads it even if what is in memory is new enough; rejects as reading does. */
  reread(): Promise<T>
  /** What is in memory, however old, unless others may have changed it. */
  readonly kept: T | undefined
  /** Others may have changed it. */
  expire(): void
  /** This gateway has changed it: what was read before is no longer true, even while the storage is away. */
  drop(): void
  /** This gateway has changed it to `value`. */
  replace(value: T): void
}

/** The time after which a storage that was away is asked again, in ms. */
export const RETRY_AFTER_MS = 1_000

/** `read` reads the data; it must show every write that has resolved before. */
export function createCached<T>(
  read: () => Promise<T>,
  { clock, freshness }: { clock: Clock; freshness: Freshness },
): Cached<T> {
  let kept: { value: T; readAt: number; isExpired: boolean; retryAt: number } | undefined
  let reading: Rereading<T> | undefined
  let epoch = 0 // counts changes, so that a read under way during one is not kept

  function begin(): Rereading<T> {
    const startedIn = epoch
    const startedAt = clock.now()
    const begun: Rereading<T> = { startedAt, work: read() }
    begun.work
      .then(
        (value) => {
          if (startedIn === epoch) kept = { value, readAt: startedAt, isExpired: false, retryAt: 0 }
        },
        (error: unknown) => {
          if (!isAway(error)) drop()
          else if (kept) kept.retryAt = clock.now() + RETRY_AFTER_MS
        },
      )
      .finally(() => {
        if (reading === begun) reading = undefined
      })
    return begun
  }

  function change(): void {
    epoch++
    reading = undefined
  }

  function drop(): void {
    change()
    kept = undefined
  }

  return {
    current() {
      if (kept && !kept.isExpired && freshness.isFresh(kept.readAt)) return kept.value
      if (kept && clock.now() < kept.retryAt) return kept.value
      reading ??= begin()
      return kept ? readOrKept(reading, kept.value, clock) : reading.work
    },
    reread() {
      reading ??= begin()
      return reading.work
    },
    get kept() {
      return kept?.isExpired ? undefined : kept?.value
    },
    expire() {
      change()
      if (kept) kept.isExpired = true
    },
    drop,
    replace(value) {
      const readAt = kept?.readAt ?? clock.now()
      change()
      kept = { value, readAt, isExpired: false, retryAt: 0 }
    },
  }
}
