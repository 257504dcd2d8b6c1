import { isObject } from './json.ts'

const settledValues = new WeakMap<Promise<unknown>, unknown>()

/** Makes a promise's value available to `getSettledValue` once it resolves, and returns the promise. Use it for promises that are awaited often. */
export function trackValue<T>(promise: Promise<T>): Promise<T> {
  promise.then(
    (value) => settledValues.set(promise, value),
    () => {}, // callers that await the promise get the rejection
  )
  return promise
}

/** Returns a promise that has resolved to this value. */
export function createResolvedPromise<T>(value: T): Promise<T> {
  const promise = Promise.resolve(value)
  settledValues.set(promise, value)
  return promise
}

/**
 * Returns the value of a promise that resolved after `trackValue`, or otherwise `undefined`. A request reads a dozen values that are already in
 * memory, and an `await` costs more than reading them: `getSettledValue(reading) ?? (await reading)`.
 */
export function getSettledValue<T>(promise: Promise<T>): T | undefined {
  return settledValues.get(promise) as T | undefined // `trackValue` and `createResolvedPromise` set it with the promise's type
}

/**
 * Creates a function that calls `load` once, on first use, and shares its result. After a failure, the next use calls `load` again. A caller that
 * only preloads doesn't have to handle the failure.
 */
export function once<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    if (loading) return loading
    const pendingLoad = trackValue(load())
    loading = pendingLoad
    pendingLoad.catch(() => {
      loading = undefined
    })
    return pendingLoad
  }
}

/** Creates a function that derives a value from a promise's result, and returns the same promise while its input stays the same. */
export function cacheDerived<T, R>(derive: (value: T) => R | Promise<R>): (promise: Promise<T>) => Promise<R> {
  let source: Promise<T> | undefined
  let result: Promise<R> | undefined
  return (promise) => {
    if (result && source === promise) return result
    source = promise
    result = trackValue(promise.then(derive))
    return result
  }
}

/** Runs work sequentially, in call order. A failure doesn't stop later work. */
export type Mutex = <T>(work: () => Promise<T>) => Promise<T>

export function createMutex(): Mutex {
  let tail: Promise<unknown> = Promise.resolve()
  return (work) => {
    const result = tail.then(work)
    tail = result.catch(() => {}) // this work's caller handles the failure
    return result
  }
}

/** Work that continues after the response. */
export interface Background {
  /** Tracks work; `waitUntil` keeps the platform running for it. Rejections go to `onError`. */
  run(work: Promise<unknown>, waitUntil?: (work: Promise<unknown>) => void): void
  /** Resolves when all work has settled. */
  waitUntilIdle(): Promise<void>
}

/** Creates a background work tracker. `onError` is called with each rejection. */
export function createBackground(onError: (error: unknown) => void): Background {
  const running = new Set<Promise<unknown>>()
  return {
    run(work, waitUntil) {
      const trackedWork: Promise<unknown> = work.catch(onError).finally(() => running.delete(trackedWork))
      running.add(trackedWork)
      waitUntil?.(trackedWork)
    },
    async waitUntilIdle() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

export const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  isObject(value) && typeof value.then === 'function'
