/** Runs one piece of work after the other, in the order of the calls; one that fails does not stop the next. */
export type Mutex = <T>(work: () => Promise<T>) => Promise<T>

/** Holds within this process only. */
export function createMutex(): Mutex {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const run = last.then(work)
    last = run.catch(() => {}) // its caller hears of it
    return run
  }
}
