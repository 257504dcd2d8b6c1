import { isObject } from './json.ts'
/**
 * Makes a function that calls `load` once, on first use, and shares its result. A failure is not kept: the next use calls `load` again. A
 * caller that only loads in advance need not handle it.
 */
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

/**
 * Makes a function that resolves to what `derive` makes of the result of a promise. For the same promise as in the last call, as in most
 * requests, it returns the same promise again.
 */
export function derived<T, R>(derive: (value: T) => R | Promise<R>): (given: Promise<T>) => Promise<R> {
  let last: { given: Promise<T>; result: Promise<R> } | undefined
  return (given) => {
    if (last?.given !== given) last = { given, result: given.then(derive) }
    return last.result
  }
}

/** Runs work in the order of the calls, one at a time; a failure does not stop the work after it. */
export type Mutex = <T>(work: () => Promise<T>) => Promise<T>

/** Makes a mutex for this process. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const run = last.then(work)
    last = run.catch(() => {}) // the caller of this work gets the failure
    return run
  }
}

/** Work that goes on after the response of its request. */
export interface Background {
  /** Keeps track of work; `waitUntil` keeps the platform running for it. Rejections go to `onError`. */
  run(work: Promise<unknown>, waitUntil?: (work: Promise<unknown>) => void): void
  /** Resolves when all work has settled. */
  settled(): Promise<void>
}

/** `onError` is called with each rejection. */
export function createBackground(onError: (error: unknown) => void): Background {
  const running = new Set<Promise<unknown>>()
  return {
    run(work, waitUntil) {
      const tracked: Promise<unknown> = work.catch(onError).finally(() => running.delete(tracked))
      running.add(tracked)
      waitUntil?.(tracked)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  isObject(value) && typeof value.then === 'function'
