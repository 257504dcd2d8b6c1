import { derived } from '../lib/promises.ts'
import type { Clock, Storage } from '../types.ts'
import { createCached, type Freshness } from './cached.ts'
import type { Patience } from './storage-access.ts'
import {
  createStoredRecords,
  type DamageLog,
  type RecordKind,
  type StoredEntry,
  type StoredRecords,
} from './stored-records.ts'

/** The records of one kind, one for each storage key, with all of them in memory. Those that cannot be used are passed over. */
export interface Records<T> {
  /** All records in the order of their creation; the same array until something changes. Rejects with `STORAGE_FAILED`. */
  all(): Promise<readonly T[]>
  /** All records with their ids and orders; `fresh` reads the storage again. */
  entries(options?: { fresh?: boolean }): Promise<ReadonlyArray<StoredEntry<T>>>
  get(id: string): Promise<T | undefined>
  /** What changes of the records are made with: see `writableRecords`. */
  readonly source: RecordSource<T>
}

/** What the reads and the writes of one kind of records share. */
interface RecordSource<T> {
  storage: Storage
  stored: StoredRecords<T>
  view: RecordView<T>
  /** Are changes made to the view as well, since those of others are reported? */
  follows: boolean
  /** The keys that are being inserted, whose changes are the gateway's own. */
  inserting: Set<string>
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
    patience: Patience
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
  const recordsOf = derived((seen: SeenRecords<T>) => (seen.records ??= seen.entries.map(({ record }) => record)))

  freshness.onChange((key) => {
    if (key.startsWith(kind.prefix) && !inserting.has(key)) view.expire()
  })
  freshness.onGap(view.expire)

  return {
    all: () => recordsOf(view.current()),

    async entries({ fresh = false } = {}) {
      return (await (fresh ? view.reread() : view.current())).entries
    },

    async get(id) {
      const found = await stored.read(id)
      return found === 'damaged' ? undefined : found?.record
    },
    source: { storage, stored, view, follows, inserting },
  }
}

/** What was read of one kind of records at one time. */
interface SeenRecords<T> {
  readonly entries: StoredEntry<T>[]
  /** The records of the entries; absent until they are asked for. */
  records?: readonly T[]
}

/** All records of one kind in memory, read again when they may have changed. */
interface RecordView<T> {
  /** The records in memory, read again if they are too old. Rejects as `Cached.current` does. */
  current(): Promise<SeenRecords<T>>
  /** Reads them again; rejects as reading does. */
  reread(): Promise<SeenRecords<T>>
  /** They may have been changed. */
  expire(): void
  /**
   * This gateway has changed them: `change` makes the change to the entries in memory. They are read again before they are used, unless it
   * returns true, which means that they are complete.
   */
  revise(change: (entries: StoredEntry<T>[]) => boolean): void
}

/** `list` reads all records. */
function createRecordView<T>(
  list: () => Promise<StoredEntry<T>[]>,
  deps: { clock: Clock; freshness: Freshness; patience: Patience },
): RecordView<T> {
  const cached = createCached<SeenRecords<T>>(async () => ({ entries: await list() }), deps)
  const { current, expire } = cached
  return {
    current,
    reread() {
      expire() // a read under way may not show what has just been written
      return cached.reread()
    },
    expire,
    revise(change) {
      const before = cached.kept
      if (!before) return cached.drop()
      const isWhole = change(before.value.entries)
      cached.replace({ entries: before.value.entries }, before.isExpired || !isWhole)
    },
  }
}
