import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { once } from '../lib/once.ts'
import type { Clock, Storage } from '../types.ts'
import type { DamageLog } from './damage.ts'
import type { Freshness } from './freshness.ts'
import { createRecordView, type Seen } from './record-view.ts'
import { createStoredRecords, type Entry, type RecordKind } from './stored-records.ts'

/** The records of one kind, one for each storage key, with all of them in memory. Those that cannot be used are passed over. */
export interface Records<T> {
  /** All records in the order of their creation; the same array until something changes. Rejects with `STORAGE_FAILED`. */
  all(): Awaitable<readonly T[]>
  /** The same with ids and orders; `fresh` reads the storage again. */
  entries(options?: { fresh?: boolean }): Promise<ReadonlyArray<Entry<T>>>
  get(id: string): Promise<T | undefined>
  /** Inserts a record; resolves to `false` when the id is taken. `order` keeps the place of a renamed record. */
  insert(id: string, record: T, order?: number): Promise<boolean>
  /**
   * Applies `change` to the current record, and again when another writer was faster. Resolves to `undefined` when there is no record, or
   * when `change` returns `undefined`, which leaves the record unchanged. Rejects with what `change` throws.
   */
  update(id: string, change: (current: T) => Awaitable<T | undefined>): Promise<T | undefined>
  /** Replaces the record, one that cannot be used as well, or inserts it. */
  upsert(id: string, record: T): Promise<void>
  /** Removes a record, if `onlyIf` accepts it; resolves to the removed record and its order. */
  remove(id: string, onlyIf?: (current: T) => boolean): Promise<{ record: T; order: number } | undefined>
}

/**
 * `hasSecretIds`: no other process can change a record while it is inserted, as none knows its id yet. The records in memory then follow each
 * change that this gateway makes and are not read again, which with many records is most of the cost of a change.
 */
export function createRecords<T extends object>(
  kind: RecordKind<T>,
  deps: {
    storage: Storage
    clock: Clock
    freshness: Freshness
    damage: DamageLog
    turnEnd(): Promise<void>
    hasSecretIds?: boolean
  },
): Records<T> {
  const { storage, freshness } = deps
  const stored = createStoredRecords<T>(storage, kind, deps)
  const view = createRecordView(stored.list, deps)
  const follows = deps.hasSecretIds === true && freshness.isWatched
  const inserting = new Set<string>()

  freshness.onChange((key) => {
    if (key.startsWith(kind.prefix) && !inserting.has(key)) view.expire()
  })
  freshness.onGap(view.expire)

  const writes = once(async () => {
    const { createRecordWrites } = await import('./record-writes.ts')
    return createRecordWrites<T>({ storage, stored, view, follows, inserting })
  })

  return {
    all() {
      const seen = view.current()
      return isPromise(seen) ? seen.then(recordsOf) : recordsOf(seen)
    },

    async entries({ fresh = false } = {}) {
      return (await (fresh ? view.reread() : view.current())).entries
    },

    async get(id) {
      const found = await stored.read(id)
      return found === 'damaged' ? undefined : found?.record
    },

    insert: async (...args) => (await writes()).insert(...args),
    update: async (...args) => (await writes()).update(...args),
    upsert: async (...args) => (await writes()).upsert(...args),
    remove: async (...args) => (await writes()).remove(...args),
  }
}

const recordsOf = <T>(seen: Seen<T>): readonly T[] => (seen.records ??= seen.entries.map(({ record }) => record))
