/** A store's watchers. Each is called in its own microtask, and never after it was removed. */
export interface Watchers {
  /** Adds a watcher. Returns the function that removes it. */
  add(onChange: (key: string) => void, onGap?: () => void): () => void
  notify(key: string): void
  /** Calls the `onGap` of every watcher immediately. */
  reportGap(): void
  clear(): void
  readonly size: number
}

/**
 * Creates the list of a store's watchers; the same function may be added more than once. Calls `start` when the first watcher is added, and the
 * function that it returns when the last one is removed.
 */
export function createWatchers(start?: () => () => void): Watchers {
  const watchers = new Set<Watcher>()
  let end: (() => void) | undefined
  const remove = (watcher: Watcher) => {
    watchers.delete(watcher)
    if (watchers.size === 0) end = void end?.()
  }
  return {
    add(onChange, onGap) {
      const watcher = { onChange, onGap }
      watchers.add(watcher)
      end ??= start?.()
      return () => remove(watcher)
    },
    notify(key) {
      for (const watcher of watchers) queueMicrotask(() => watchers.has(watcher) && watcher.onChange(key))
    },
    reportGap() {
      for (const watcher of watchers) watcher.onGap?.()
    },
    clear: () => watchers.forEach(remove),
    get size() {
      return watchers.size
    },
  }
}

interface Watcher {
  onChange(key: string): void
  onGap?: (() => void) | undefined
}
