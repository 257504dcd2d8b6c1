import type { KeyRecord } from '../store/collections.ts'
import type { Records } from '../store/records.ts'
import { findRecord } from './find.ts'

/** A key and the digest that it lies under. */
export interface FoundKey {
  digest: string
  record: KeyRecord
}

/** Finds keys by their ids. Where each lies is remembered: there may be too many to look through them for each. */
export interface KeyFinder {
  /** Throws `NOT_FOUND`. */
  find(id: string): Promise<FoundKey>
  /** For a key that was made here. */
  remember(id: string, digest: string): void
  /** For a key that was deleted here. */
  forget(id: string): void
}

export function createKeyFinder(keys: Records<KeyRecord>): KeyFinder {
  let digests = new Map<string, string>()

  return {
    async find(id) {
      const digest = digests.get(id)
      const record = digest === undefined ? undefined : await keys.get(digest)
      if (digest !== undefined && record?.id === id) return { digest, record }
      const found = await findRecord(keys, 'Key', (one) => one.id === id)
      digests = new Map((await keys.entries()).map((entry) => [entry.record.id, entry.id]))
      return { digest: found.id, record: found.record }
    },

    remember: (id, digest) => void digests.set(id, digest),
    forget: (id) => void digests.delete(id),
  }
}
