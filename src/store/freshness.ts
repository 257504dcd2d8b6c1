import type { Clock, Storage } from '../types.ts'

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
