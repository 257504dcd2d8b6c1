import type { Awaitable } from '../lib/awaitable.ts'
import type { Clock } from '../types.ts'
import { createCached } from './cached.ts'
import type { Freshness } from './freshness.ts'
import type { Entry } from './stored-records.ts'

/** What was read of one kind of records at one time. */
export interface Seen<T> {
  readonly entries: Entry<T>[]
  /** The records of the entries; absent until they are asked for. */
  records?: readonly T[]
}

/** All records of one kind in memory, read again when they may have changed. */
export interface RecordView<T> {
  /** The records in memory, read again if they are too old. Rejects as `Cached.current` does. */
  current(): Awaitable<Seen<T>>
  /** Reads them again; rejects as reading does. */
  reread(): Promise<Seen<T>>
  /** Others may have changed them. */
  expire(): void
  /** This gateway has changed them: what is in memory is dropped, and what is being read is not kept. */
  drop(): void
  /** `drop`, unless `change` makes the change to the entries that are still in memory and returns true. */
  revise(change: (entries: Entry<T>[]) => boolean): void
}

/** `list` reads all records. */
export function createRecordView<T>(
  list: () => Promise<Entry<T>[]>,
  deps: { clock: Clock; freshness: Freshness },
): RecordView<T> {
  const cached = createCached<Seen<T>>(async () => ({ entries: await list() }), deps)
  const { current, reread, expire, drop } = cached
  return {
    current,
    reread,
    expire,
    drop,
    revise(change) {
      const before = cached.kept
      if (before && change(before.entries)) cached.replace({ entries: before.entries })
      else drop()
    },
  }
}
