import type { Storage } from '../types.ts'

/** Divides one storage into parts, by the prefixes of their keys. */
export interface Scopes {
  /** The part below a prefix, as a storage of its own. Its `close` leaves the storage open. */
  scope(prefix: string): Storage
  /**
   * Calls `listener` with each key that another writer has changed, and without a key when any may have changed; returns the function that
   * stops it.
   */
  watch(prefix: string, listener: Listener): () => void
  /** Does the storage report the changes of other writers? */
  readonly isWatched: boolean
}

type Listener = (key: string | undefined) => void

/** The prefixes of all scopes must end with a slash. While any scope is watched, the storage is watched once for all of them. */
export function createScopes(storage: Storage): Scopes {
  const listeners = new Map<string, Set<Listener>>() // by prefix
  let stop: (() => void) | undefined

  function onChange(key: string): void {
    for (let end = key.indexOf('/') + 1; end > 0; end = key.indexOf('/', end) + 1)
      for (const listener of listeners.get(key.slice(0, end)) ?? []) listener(key.slice(end))
  }

  function onGap(): void {
    for (const ofPrefix of listeners.values()) for (const listener of ofPrefix) listener(undefined)
  }

  function watch(prefix: string, listener: Listener): () => void {
    const ofPrefix = listeners.get(prefix) ?? new Set()
    listeners.set(prefix, ofPrefix.add(listener))
    stop ??= storage.watch?.(onChange, onGap)
    return () => {
      ofPrefix.delete(listener)
      if (ofPrefix.size === 0 && listeners.get(prefix) === ofPrefix) listeners.delete(prefix)
      if (listeners.size > 0) return
      stop?.()
      stop = undefined
    }
  }

  return { scope: (prefix) => scoped(storage, prefix, watch), watch, isWatched: storage.watch !== undefined }
}

function scoped(storage: Storage, prefix: string, watch: Scopes['watch']): Storage {
  const { increment, ownSecret, longestKeyBytes, largestValueBytes } = storage
  const running = new Set<Promise<unknown>>()
  const tracked = <T>(work: Promise<T>): Promise<T> => {
    const settled: Promise<unknown> = work.catch(() => {}).finally(() => running.delete(settled)) // the caller of this work gets the failure
    running.add(settled)
    return work
  }

  return {
    atomic: storage.atomic,
    ...(storage.keepsUsage === false && { keepsUsage: false }),
    ...(largestValueBytes !== undefined && { largestValueBytes }),
    ...(longestKeyBytes !== undefined && { longestKeyBytes: longestKeyBytes - prefix.length }), // prefixes are ASCII, one byte a character
    get: (key) => storage.get(prefix + key),
    set: (key, value, options) => tracked(storage.set(prefix + key, value, options)),
    delete: (key, options) => tracked(storage.delete(prefix + key, options)),
    async list(start, { after, ...rest } = {}) {
      const listed = await storage.list(prefix + start, {
        ...rest,
        ...(after !== undefined && { after: prefix + after }),
      })
      return listed.map((entry) => ({ ...entry, key: entry.key.slice(prefix.length) }))
    },
    ...(increment && {
      increment: (key: string, by: number, options?: { ttlMs?: number }) =>
        tracked(increment(prefix + key, by, options)),
    }),
    ...(storage.watch && {
      watch: (onChange: (key: string) => void, onGap?: () => void) =>
        watch(prefix, (key) => (key === undefined ? onGap?.() : onChange(key))),
    }),
    ...(ownSecret && { ownSecret: () => ownSecret() }),
    close: async () => void (await Promise.all(running)),
  }
}
