import { createStorageError } from './storage-error.ts'

/** A store's operations that haven't settled. */
export interface RunningOperations {
  /** Runs an operation. Rejects with `STORAGE_CLOSED` after `close`. */
  run<T>(work: () => Promise<T>): Promise<T>
  /** Rejects all further operations, and waits for the running ones. */
  close(): Promise<void>
}

/** Creates the list of a store's running operations; `store` is the store's name in messages. */
export function createRunningOperations(store: string): RunningOperations {
  const running = new Set<Promise<unknown>>()
  let isClosed = false
  return {
    async run(work) {
      if (isClosed) throw createStorageError('STORAGE_CLOSED', `${store} was closed.`)
      const result = work()
      running.add(result)
      try {
        return await result
      } finally {
        running.delete(result)
      }
    },
    async close() {
      isClosed = true
      await Promise.allSettled(running)
    },
  }
}
