/** Who watches a store. Each is told in a microtask of its own, and never after it has stopped. */
export interface Watchers {
  /** Answers the function that stops it. */
  add(onChange: (key: string) => void): () => void
  tell(key: string): void
  clear(): void
  readonly size: number
}

/** Makes the list of a store's watchers; the same function may watch more than once. */
export function createWatchers(): Watchers {
  const watchers = new Set<(key: string) => void>()
  return {
    add(onChange) {
      const watcher = (key: string) => onChange(key)
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    tell(key) {
      for (const watcher of watchers) queueMicrotask(() => watchers.has(watcher) && watcher(key))
    },
    clear: () => watchers.clear(),
    get size() {
      return watchers.size
    },
  }
}
