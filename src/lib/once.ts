import type { Awaitable } from './awaitable.ts'

/** Calls `load` once, on first use, and shares its result; a failure is not kept, and whoever loads ahead of need need not handle it. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    if (loading) return loading
    const started = load()
    loading = started
    started.catch(() => {
      loading = undefined
    })
    return started
  }
}

/** The same, as a promise only until it is here. */
export function loadedOnce<T>(load: () => Promise<T>): () => Awaitable<T> {
  const loading = once(load)
  let loaded: { value: T } | undefined
  return () => {
    if (loaded) return loaded.value
    return loading().then((value) => {
      loaded = { value }
      return value
    })
  }
}
