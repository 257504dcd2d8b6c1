import { gatewayError } from '../errors.ts'

/** Enough for this many writers at once. */
const MAX_ATTEMPTS = 200

/**
 * Repeats `attempt` (read, change, conditional write) until it resolves to something other than `false`, which means that another writer
 * was faster. Rejects with `STORAGE_FAILED` after 200 attempts, as with a storage that does not show its own writes.
 */
export async function retryLostRace<T>(attempt: () => Promise<T | false>): Promise<T> {
  for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts++) {
    const done = await attempt()
    if (done !== false) return done
  }
  throw gatewayError('STORAGE_FAILED', {
    message: `A write to the storage lost the race against other writers ${MAX_ATTEMPTS} times in a row.`,
  })
}
