import { startDeadline } from '../lib/deadline.ts'
import type { Clock, Storage } from '../types.ts'

/** A little more than the time in which Workers KV accepts one write of a key, in ms. */
const PAUSE_MS = 1_100
const MAX_ATTEMPTS = 3

/**
 * A storage that is not atomic, whose refused writes are repeated: a message of the protocol may write a record twice within a second, which
 * Workers KV refuses.
 */
export function repeatingStorage(storage: Storage, clock: Clock): Storage {
  async function repeated<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write()
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isRefused(error)) throw error
        await new Promise<void>((resolve) => void startDeadline(clock, PAUSE_MS, resolve))
      }
    }
  }

  return {
    ...storage,
    set: (...args) => repeated(() => storage.set(...args)),
    delete: (...args) => repeated(() => storage.delete(...args)),
  }
}

const isRefused = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'STORAGE_UNREACHABLE'
