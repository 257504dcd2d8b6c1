/** The watchers of a store. Each is called in its own microtask, and never after it was removed. */
export interface Watchers {
  /** Adds a watcher; returns the function that removes it. */
  add(onChange: (key: string) => void): () => void
  notify(key: string): void
  clear(): void
  readonly size: number
}

/**
 * Creates the list of a store's watchers; the same function may watch more than once. Calls `start` when the first watcher is added, and the
 * function that it returns when the last one is removed.
 */
export function createWatchers(start?: () => () => void): Watchers {
  const watchers = new Set<(key: string) => void>()
  let end: (() => void) | undefined
  const remove = (watcher: (key: string) => void) => {
    watchers.delete(watcher)
    if (watchers.size === 0) end = void end?.()
  }
  return {
    add(onChange) {
      const watcher = (key: string) => onChange(key)
      watchers.add(watcher)
      end ??= start?.()
      return () => remove(watcher)
    },
    notify(key) {
      for (const watcher of watchers) queueMicrotask(() => watchers.has(watcher) && watcher(key))
    },
    clear: () => watchers.forEach(remove),
    get size() {
      return watchers.size
    },
  }
}
