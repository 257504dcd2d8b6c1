import { evictOldest } from '../lib/maps.ts'
import type { Clock } from '../types.ts'
import { createCache, type FreshnessTracker, type RefreshableValue } from './cached.ts'
import type { StaleFallback } from './storage-access.ts'
import { decodeId } from './stored-records.ts'

interface RecordCacheOptions<T> {
  /** The prefix of the records' storage keys. */
  prefix: string
  /** Reads a record from the storage. Resolves to `undefined` if there is no readable record. */
  read(id: string): Promise<T | undefined>
  freshness: FreshnessTracker
  staleFallback: StaleFallback
  clock: Clock
}

/**
 * Looks up records of one type by ID. Finding an uncached record takes one storage read; a cached record takes none, regardless of how many records
 * there are. A change made here applies to the next request. A change made elsewhere applies as soon as `freshness` reports it. While the storage is
 * unavailable, cached records remain in use.
 */
export class RecordCache<T> {
  readonly #options: RecordCacheOptions<T>
  readonly #cache = new Map<string, RefreshableValue<T | undefined>>()
  readonly #listeners: Array<(id: string) => void> = []

  constructor(options: RecordCacheOptions<T>) {
    const { prefix, freshness } = options
    this.#options = options
    freshness.onChange((key) => {
      const id = key.startsWith(prefix) ? decodeId(key.slice(prefix.length)) : undefined
      if (id !== undefined) this.expire(id)
    })
    freshness.onGap(() => {
      for (const id of this.#cache.keys()) this.expire(id)
    })
  }

  /** Finds the record. Resolves to `undefined` if there is no readable record. Rejects with the same errors as `read`. */
  find(id: string): Promise<T | undefined> {
    return this.#getOrCreateCache(id).current()
  }

  /** Reads the record from the storage and updates the cache. Rejects with the same errors as `read`. */
  reread(id: string): Promise<T | undefined> {
    return this.#getOrCreateCache(id).reread()
  }

  /** Reads the record from the storage. Rejects with `STORAGE_FAILED`, or with `CALLER_UNUSABLE` for an unsigned record (keyring.ts). */
  read(id: string): Promise<T | undefined> {
    return this.#options.read(id)
  }

  /** Calls `listener` with the ID of each record that changes, here or elsewhere. */
  onChange(listener: (id: string) => void): void {
    this.#listeners.push(listener)
  }

  /** Sets a record that this gateway has written, even while the storage is unavailable. */
  update(id: string, value: T): void {
    this.#cache.get(id)?.replace(value, true)
    this.#notify(id)
  }

  /** Call this after the record was created, deleted, or repaired. */
  forget(id: string): void {
    this.#cache.delete(id)
    this.#notify(id)
  }

  /** Call this if a failed change may have been written anyway, or if another writer changed the record. */
  expire(id: string): void {
    this.#cache.get(id)?.expire()
    this.#notify(id)
  }

  #notify(id: string): void {
    for (const listener of this.#listeners) listener(id)
  }

  #getOrCreateCache(id: string): RefreshableValue<T | undefined> {
    const cached = this.#cache.get(id)
    if (cached) return cached
    const newCache = createCache(() => this.read(id), this.#options)
    evictOldest(this.#cache, MAX_CACHED)
    this.#cache.set(id, newCache)
    return newCache
  }
}

const MAX_CACHED = 20_000
