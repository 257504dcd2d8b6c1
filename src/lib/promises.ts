/** Calls `load` once, on first use, and shares its result; a failure is not kept, and a caller that loads ahead of need may leave it unhandled. */
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

/** What `derive` makes of a result; the same promise as before for the same `given`, which is what most requests meet. */
export function derived<T, R>(derive: (value: T) => R | Promise<R>): (given: Promise<T>) => Promise<R> {
  let last: { given: Promise<T>; result: Promise<R> } | undefined
  return (given) => {
    if (last?.given !== given) last = { given, result: given.then(derive) }
    return last.result
  }
}

/** Runs work in the order of the calls, one at a time; a failure does not stop what follows. */
export type Mutex = <T>(work: () => Promise<T>) => Promise<T>

/** Makes a mutex for this process. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const run = last.then(work)
    last = run.catch(() => {}) // its caller hears of it
    return run
  }
}

/** Work that goes on after the answer it belongs to. */
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
