import type { Storage } from '../../../types.ts'

/** Splits a storage into parts by key prefix. */
export interface Scopes {
  /** Returns the part below a prefix as a storage. Closing the part leaves the underlying storage open. */
  scope(prefix: string): Storage
  /**
   * Calls `listener` with each key that another writer has changed, or without a key if any key may have changed. Returns a function that stops
   * watching.
   */
  watch(prefix: string, listener: Listener): () => void
  /** Whether the storage reports changes by other writers. */
  readonly isWatched: boolean
}

type Listener = (key: string | undefined) => void

/** Creates a storage's scopes. Prefixes must end with a slash. Watches the storage only once, and only while any scope is watched. */
export function createScopes(storage: Storage): Scopes {
  const listeners = new Map<string, Set<Listener>>() // by prefix
  let stopWatching: (() => void) | undefined

  function onChange(key: string): void {
    for (let end = key.indexOf('/') + 1; end > 0; end = key.indexOf('/', end) + 1)
      for (const listener of listeners.get(key.slice(0, end)) ?? []) listener(key.slice(end))
  }

  function onGap(): void {
    for (const prefixListeners of listeners.values()) for (const listener of prefixListeners) listener(undefined)
  }

  function watch(prefix: string, listener: Listener): () => void {
    const prefixListeners = listeners.get(prefix) ?? new Set()
    listeners.set(prefix, prefixListeners.add(listener))
    stopWatching ??= storage.watch?.(onChange, onGap)
    return () => {
      prefixListeners.delete(listener)
      if (prefixListeners.size === 0 && listeners.get(prefix) === prefixListeners) listeners.delete(prefix)
      if (listeners.size > 0) return
      stopWatching?.()
      stopWatching = undefined
    }
  }

  return { scope: (prefix) => createScope(storage, prefix, watch), watch, isWatched: storage.watch !== undefined }
}

function createScope(storage: Storage, prefix: string, watch: Scopes['watch']): Storage {
  const { increment, ownSecret, longestKeyBytes, largestValueBytes } = storage
  const pendingWrites = new Set<Promise<unknown>>()
  const track = <T>(work: Promise<T>): Promise<T> => {
    const trackedPromise: Promise<unknown> = work.catch(() => {}).finally(() => pendingWrites.delete(trackedPromise)) // the caller handles the failure
    pendingWrites.add(trackedPromise)
    return work
  }

  return {
    atomic: storage.atomic,
    ...(storage.keepsUsage === false && { keepsUsage: false }),
    ...(storage.usageRecordLimit && { usageRecordLimit: storage.usageRecordLimit }),
    ...(largestValueBytes !== undefined && { largestValueBytes }),
    ...(longestKeyBytes !== undefined && { longestKeyBytes: longestKeyBytes - prefix.length }), // prefixes are ASCII
    get: (key) => storage.get(prefix + key),
    set: (key, value, options) => track(storage.set(prefix + key, value, options)),
    delete: (key, options) => track(storage.delete(prefix + key, options)),
    async list(start, { after, ...options } = {}) {
      const entries = await storage.list(prefix + start, {
        ...options,
        ...(after !== undefined && { after: prefix + after }),
      })
      return entries.map((entry) => ({ ...entry, key: entry.key.slice(prefix.length) }))
    },
    ...(increment && {
      increment: (key: string, by: number, options?: { ttlMs?: number }) => track(increment(prefix + key, by, options)),
    }),
    ...(storage.watch && {
      watch: (onChange: (key: string) => void, onGap?: () => void) =>
        watch(prefix, (key) => (key === undefined ? onGap?.() : onChange(key))),
    }),
    ...(ownSecret && { ownSecret: () => ownSecret() }),
    close: async () => void (await Promise.all(pendingWrites)),
  }
}
