import { createResolvedPromise, trackValue } from '../lib/promises.ts'
import type { Clock, Storage } from '../types.ts'
import { isStorageUnavailable, type PendingRead, RETRY_AFTER_MS, type StaleFallback } from './storage-access.ts'

/** In-memory data from the storage, reread when it may have changed. It stays in use while the storage is unavailable. */
export interface RefreshableValue<T> {
  /**
   * Resolves to the data, which is reread if it is too old. Returns the same promise until then. If reading fails, rejects, unless the storage is
   * unavailable and there is data in memory.
   */
  current(): Promise<T>
  /** Waits for a slow store if the data in memory is too old. Never rejects, because `current` then returns the data in memory, or rejects. */
  refresh(): Promise<void>
  /** Reads the data even if it is fresh. Rejects if reading fails. */
  reread(): Promise<T>
  /** The value in memory, regardless of its age. */
  readonly latest: { readonly value: T; readonly isExpired: boolean } | undefined
  /** Makes the next use reread the data. */
  expire(): void
  /** Drops the value in memory and the result of a pending read. */
  drop(): void
  /** Sets the value that this gateway has just written, even while the storage is unavailable. */
  replace(value: T, isExpired: boolean): void
}

interface CachedValue<T> {
  value: T
  promise: Promise<T>
  /** Epoch ms. */
  readAt: number
  isExpired: boolean
  /** When to read again from an unavailable store, in epoch ms. */
  retryAt: number
}

/** Creates a cache of the data that `read` returns, which must include every write that resolved before the call. */
export function createCache<T>(
  read: () => Promise<T>,
  { clock, freshness, staleFallback }: { clock: Clock; freshness: FreshnessTracker; staleFallback: StaleFallback },
): RefreshableValue<T> {
  let cached: CachedValue<T> | undefined
  let pendingRead: PendingRead<T> | undefined
  let epoch = 0 // counts all changes, because a value that was read during a change must be reread
  let localEpoch = 0 // counts this gateway's own changes, because a value that was read during one is outdated

  function startRead(): PendingRead<T> {
    const [startEpoch, startLocalEpoch] = [epoch, localEpoch]
    const startedAt = clock.now()
    const startedRead: PendingRead<T> = { startedAt, work: trackValue(read()) }
    startedRead.work
      .then(
        (value) => {
          if (startEpoch === epoch || (startLocalEpoch === localEpoch && !cached))
            cached = {
              value,
              promise: startedRead.work,
              readAt: startedAt,
              isExpired: startEpoch !== epoch,
              retryAt: 0,
            }
        },
        (error: unknown) => {
          if (!isStorageUnavailable(error)) drop()
          else if (cached) cached.retryAt = clock.now() + RETRY_AFTER_MS
        },
      )
      .finally(() => {
        if (pendingRead === startedRead) pendingRead = undefined
      })
    return startedRead
  }

  function invalidatePendingRead(): void {
    epoch++
    pendingRead = undefined
  }

  function drop(): void {
    invalidatePendingRead()
    localEpoch++
    cached = undefined
  }

  const isUsable = ({ isExpired, readAt, retryAt }: CachedValue<T>) =>
    (!isExpired && freshness.isFresh(readAt)) || clock.now() < retryAt

  return {
    current() {
      if (cached && isUsable(cached)) return cached.promise
      pendingRead ??= startRead()
      return cached ? staleFallback.readOrUseStale(pendingRead, cached.value) : pendingRead.work
    },
    async refresh() {
      if (!cached || isUsable(cached)) return
      pendingRead ??= startRead()
      await pendingRead.work.catch(() => {})
    },
    reread() {
      pendingRead ??= startRead()
      return pendingRead.work
    },
    get latest() {
      return cached
    },
    expire() {
      invalidatePendingRead()
      if (cached) cached.isExpired = true
    },
    drop,
    replace(value, isExpired) {
      const readAt = cached?.readAt ?? clock.now()
      drop()
      cached = { value, promise: createResolvedPromise(value), readAt, isExpired, retryAt: 0 }
    },
  }
}

/** Tracks whether data from the storage may still be used. */
export interface FreshnessTracker {
  /** Whether the storage reports changes by other writers (`watch`). */
  readonly isWatched: boolean
  /** Returns whether data that was read at `readAt` (epoch ms) may still be used. */
  isFresh(readAt: number): boolean
  /** Calls `listener` with each key that another writer changed. */
  onChange(listener: (key: string) => void): void
  /** Calls `listener` when changes may have been missed. */
  onGap(listener: () => void): void
  close(): void
}

/** Determines how long data is fresh: with `watch`, until a change is reported; without it, for `maxAgeMs` (default 1,000). */
export function createFreshnessTracker(storage: Storage, clock: Clock, maxAgeMs = 1_000): FreshnessTracker {
  const listeners: Array<(key: string) => void> = []
  const gapListeners: Array<() => void> = []
  const stopWatching = storage.watch?.(
    (key) => {
      for (const listener of listeners) listener(key)
    },
    () => {
      for (const listener of gapListeners) listener()
    },
  )
  return {
    isWatched: stopWatching !== undefined,
    isFresh: (readAt) => stopWatching !== undefined || Math.abs(clock.now() - readAt) < maxAgeMs,
    onChange: (listener) => void listeners.push(listener),
    onGap: (listener) => void gapListeners.push(listener),
    close: () => stopWatching?.(),
  }
}
