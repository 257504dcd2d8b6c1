import { storageError } from './storage-error.ts'

/** The operations of a store that haven't settled. */
export class RunningOperations {
  readonly #store: string
  readonly #running = new Set<Promise<unknown>>()
  #isClosed = false

  /** Takes the name of the store at the start of messages. */
  constructor(store: string) {
    this.#store = store
  }

  /** Runs an operation. Rejects with `STORAGE_CLOSED` after `close`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw storageError('STORAGE_CLOSED', `${this.#store} was closed.`)
    const result = work()
    this.#running.add(result)
    try {
      return await result
    } finally {
      this.#running.delete(result)
    }
  }

  /** Rejects all further operations, and waits for the running ones. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#running)
  }
}
