import { startDeadline } from '../../../lib/deadline.ts'
import type { Clock, Storage } from '../../../types.ts'

/** Slightly longer than the interval at which Workers KV accepts writes to the same key, in ms. */
const RETRY_DELAY_MS = 1_100
const MAX_ATTEMPTS = 3

/**
 * Retries writes that a non-atomic storage rejects. For example, Workers KV rejects a second write to the same record within a second, and a single
 * protocol message may cause that.
 */
export function createRetryingStorage(storage: Storage, clock: Clock): Storage {
  async function retry<T>(write: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await write()
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isUnreachable(error)) throw error
        await new Promise<void>((resolve) => void startDeadline(clock, RETRY_DELAY_MS, resolve))
      }
    }
  }

  return {
    ...storage,
    set: (...args) => retry(() => storage.set(...args)),
    delete: (...args) => retry(() => storage.delete(...args)),
  }
}

const isUnreachable = (error: unknown) =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'STORAGE_UNREACHABLE'
