import type { Clock, Storage } from '../types.ts'

/** Tells what was read from the storage and may be used again without asking it. */
export interface Freshness {
  /** Does the storage tell of others' changes? */
  readonly isWatched: boolean
  /** Is something read at `readAt` (epoch ms) still good? */
  isFresh(readAt: number): boolean
  /** Calls back with each key that another writer changed. */
  onChange(listener: (key: string) => void): void
  close(): void
}

/** With `watch` what was read stays good until a change is told; without it, for `maxAgeMs` (default 1,000). */
export function createFreshness(storage: Storage, clock: Clock, maxAgeMs = 1_000): Freshness {
  const listeners: Array<(key: string) => void> = []
  const stop = storage.watch?.((key) => {
    for (const listener of listeners) listener(key)
  })
  return {
    isWatched: stop !== undefined,
    isFresh: (readAt) => stop !== undefined || Math.abs(clock.now() - readAt) < maxAgeMs,
    onChange: (listener) => void listeners.push(listener),
    close: () => stop?.(),
  }
}
