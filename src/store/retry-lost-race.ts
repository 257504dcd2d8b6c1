import { gatewayError } from '../errors.ts'

/** So many writers at once may each win before one that has lost to all of them. */
const MAX_ATTEMPTS = 200

/**
 * Reads, changes and writes again for as long as `attempt` answers `false`: another writer was faster. Throws `STORAGE_FAILED` when that
 * has no end, as with a storage that does not show its own writes.
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
