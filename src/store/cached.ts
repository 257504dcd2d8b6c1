import type { Clock, Storage } from '../types.ts'
import { isAway, type Patience, RETRY_AFTER_MS, type Rereading } from './storage-access.ts'

/** Data of the storage in memory, read again when it may have changed. What was read stays in force while the storage is away. */
export interface Cached<T> {
  /** The data, read again if it is too old; the same promise until then. Rejects as reading does; not for a storage that is away once there is data in memory. */
  current(): Promise<T>
  /** Reads the value even if the one in memory is new enough; rejects as reading does. */
  reread(): Promise<T>
  /** The value in memory, of any age. */
  readonly kept: { readonly value: T; readonly isExpired: boolean } | undefined
  /** It may have been changed. */
  expire(): void
  /** Drops the value in memory and the result of a read under way, since both are outdated. */
  drop(): void
  /** Sets the value that this gateway has just written. It holds even while the storage is unavailable; other gateways may have changed it too. */
  replace(value: T, isExpired: boolean): void
}

/** What was read, and when. */
interface Kept<T> {
  value: T
  promised: Promise<T>
  /** Epoch ms. */
  readAt: number
  isExpired: boolean
  /** Until then a storage that was away is not asked again; epoch ms. */
  retryAt: number
}

/** `read` reads the data; it must show every write that has resolved before. */
export function createCached<T>(
  read: () => Promise<T>,
  { clock, freshness, patience }: { clock: Clock; freshness: Freshness; patience: Patience },
): Cached<T> {
  let kept: Kept<T> | undefined
  let reading: Rereading<T> | undefined
  let epoch = 0 // counts changes, so that what is read during one is read again
  let ownEpoch = 0 // counts those of this gateway, so that what is read during one is not kept

  function begin(): Rereading<T> {
    const [startedIn, startedInOwn] = [epoch, ownEpoch]
    const startedAt = clock.now()
    const begun: Rereading<T> = { startedAt, work: read() }
    begun.work
      .then(
        (value) => {
          if (startedIn === epoch || (startedInOwn === ownEpoch && !kept))
            kept = { value, promised: begun.work, readAt: startedAt, isExpired: startedIn !== epoch, retryAt: 0 }
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
    ownEpoch++
    kept = undefined
  }

  return {
    current() {
      if (kept && !kept.isExpired && freshness.isFresh(kept.readAt)) return kept.promised
      if (kept && clock.now() < kept.retryAt) return kept.promised
      reading ??= begin()
      return kept ? patience.readOrKept(reading, kept.value) : reading.work
    },
    reread() {
      reading ??= begin()
      return reading.work
    },
    get kept() {
      return kept
    },
    expire() {
      change()
      if (kept) kept.isExpired = true
    },
    drop,
    replace(value, isExpired) {
      const readAt = kept?.readAt ?? clock.now()
      drop()
      kept = { value, promised: Promise.resolve(value), readAt, isExpired, retryAt: 0 }
    },
  }
}

/** Tells whether data from the storage may still be used. */
export interface Freshness {
  /** Does the storage report changes of others (`watch`)? */
  readonly isWatched: boolean
  /** May data that was read at `readAt` (epoch ms) still be used? */
  isFresh(readAt: number): boolean
  /** Calls back with each key that another writer changed. */
  onChange(listener: (key: string) => void): void
  /** Calls back when changes may have gone unseen. */
  onGap(listener: () => void): void
  close(): void
}

/** With `watch`, data is fresh until a change is reported; without it, for `maxAgeMs` (default 1,000). */
export function createFreshness(storage: Storage, clock: Clock, maxAgeMs = 1_000): Freshness {
  const listeners: Array<(key: string) => void> = []
  const gapListeners: Array<() => void> = []
  const stop = storage.watch?.(
    (key) => {
      for (const listener of listeners) listener(key)
    },
    () => {
      for (const listener of gapListeners) listener()
    },
  )
  return {
    isWatched: stop !== undefined,
    isFresh: (readAt) => stop !== undefined || Math.abs(clock.now() - readAt) < maxAgeMs,
    onChange: (listener) => void listeners.push(listener),
    onGap: (listener) => void gapListeners.push(listener),
    close: () => stop?.(),
  }
}
