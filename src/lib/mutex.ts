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
