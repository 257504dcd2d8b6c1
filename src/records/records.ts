import { cacheDerived } from '../lib/promises.ts'
import type { Clock, Storage } from '../types.ts'
import { createCache, type FreshnessTracker } from './cached.ts'
import type { StaleFallback } from './storage-access.ts'
import {
  createStoredRecords,
  type DamageLog,
  type RecordKind,
  type StoredEntry,
  type StoredRecords,
} from './stored-records.ts'

/** The records of one type, one per storage key, all in memory. Unusable records are skipped. */
export interface Records<T> {
  /** Returns all records in creation order; the same array until something changes. Rejects with `STORAGE_FAILED`. */
  all(): Promise<readonly T[]>
  /** Returns all records with their IDs and order; `fresh` rereads the storage. */
  entries(options?: { fresh?: boolean }): Promise<ReadonlyArray<StoredEntry<T>>>
  get(id: string): Promise<T | undefined>
  /** Waits for a slow store if the records in memory are too old. Never rejects. */
  refresh(): Promise<void>
  readonly source: RecordSource<T>
}

interface RecordSource<T> {
  storage: Storage
  stored: StoredRecords<T>
  view: RecordView<T>
  /** Whether writes are also applied to the view, because other writers' changes are reported. */
  appliesOwnWrites: boolean
  /** The keys that this gateway is inserting right now. */
  pendingInserts: Set<string>
}

/**
 * Creates the records of one type. `hasSecretIds` means that no other process can change a record while it is inserted, because none of them knows
 * its ID. The records in memory then follow this gateway's changes without a reread, which would be most of a change's cost if there are many
 * records.
 */
export function createRecords<T extends object>(
  kind: RecordKind<T>,
  deps: {
    storage: Storage
    clock: Clock
    freshness: FreshnessTracker
    staleFallback: StaleFallback
    damage: DamageLog
    nextTurn(): Promise<void>
    hasSecretIds?: boolean
  },
): Records<T> {
  const { storage, freshness } = deps
  const storedRecords = createStoredRecords<T>(storage, kind, deps)
  const view = createRecordView(storedRecords.list, deps)
  const appliesOwnWrites = deps.hasSecretIds === true && freshness.isWatched
  const pendingInserts = new Set<string>()
  const getRecords = cacheDerived(
    (loaded: LoadedRecords<T>) => (loaded.records ??= loaded.entries.map(({ record }) => record)),
  )

  freshness.onChange((key) => {
    if (key.startsWith(kind.prefix) && !pendingInserts.has(key)) view.expire()
  })
  freshness.onGap(view.expire)

  return {
    all: () => getRecords(view.current()),

    async entries({ fresh = false } = {}) {
      return (await (fresh ? view.reread() : view.current())).entries
    },

    async get(id) {
      const entry = await storedRecords.read(id)
      return entry === 'damaged' ? undefined : entry?.record
    },
    refresh: view.refresh,
    source: { storage, stored: storedRecords, view, appliesOwnWrites, pendingInserts },
  }
}

interface LoadedRecords<T> {
  readonly entries: StoredEntry<T>[]
  /** The records of the entries, set on first use. */
  records?: readonly T[]
}

interface RecordView<T> {
  current(): Promise<LoadedRecords<T>>
  refresh(): Promise<void>
  reread(): Promise<LoadedRecords<T>>
  expire(): void
  /** Applies this gateway's change to the entries in memory. They are reread before use unless `change` returns true, meaning they are complete. */
  applyChange(change: (entries: StoredEntry<T>[]) => boolean): void
}

function createRecordView<T>(
  list: () => Promise<StoredEntry<T>[]>,
  deps: { clock: Clock; freshness: FreshnessTracker; staleFallback: StaleFallback },
): RecordView<T> {
  const cached = createCache<LoadedRecords<T>>(async () => ({ entries: await list() }), deps)
  const { current, refresh, expire } = cached
  return {
    current,
    refresh,
    reread() {
      expire() // a pending read may miss the latest write
      return cached.reread()
    },
    expire,
    applyChange(change) {
      const latest = cached.latest
      if (!latest) return cached.drop()
      const isComplete = change(latest.value.entries)
      cached.replace({ entries: latest.value.entries }, latest.isExpired || !isComplete)
    },
  }
}
