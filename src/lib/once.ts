import type { Awaitable } from './awaitable.ts'

/** Calls `load` once, on first use, and shares its result; a failure is not kept. */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
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
