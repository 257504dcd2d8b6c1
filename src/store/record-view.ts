import type { Awaitable } from '../lib/awaitable.ts'
import type { Clock } from '../types.ts'
import type { Freshness } from './freshness.ts'
import type { Entry } from './stored-records.ts'

/** What was read of one kind of records at one time. */
export interface Seen<T> {
  readonly entries: Entry<T>[]
  /** The records of the entries, once somebody has asked for them. */
  records?: readonly T[]
  /** Epoch ms. */
  readonly readAt: number
}

/** All records of one kind in memory, read again when they may have changed. */
export interface RecordView<T> {
  /** Rejects as reading does. */
  current(): Awaitable<Seen<T>>
  /** After a change: what is in memory is dropped, and what is being read is not kept. */
  forget(): void
  /** After a change that nobody else can have changed: the same, unless `change` makes it to the entries that are still in memory. */
  revise(change: (entries: Entry<T>[]) => boolean): void
}

/** `list` reads all records. */
export function createRecordView<T>(
  list: () => Promise<Entry<T>[]>,
  { clock, freshness }: { clock: Clock; freshness: Freshness },
): RecordView<T> {
  let seen: Seen<T> | undefined
  let loading: Promise<Seen<T>> | undefined
  let epoch = 0 // counts changes, so that a read under way during one is not kept

  function forget() {
    epoch++
    loading = undefined
    seen = undefined
  }

  async function load() {
    const startedIn = epoch
    const readAt = clock.now()
    const loaded: Seen<T> = { entries: await list(), readAt }
    if (startedIn === epoch) seen = loaded
    return loaded
  }

  return {
    current() {
      if (seen && freshness.isFresh(seen.readAt)) return seen
      if (seen) forget()
      loading ??= load().finally(() => {
        loading = undefined
      })
      return loading
    },

    forget,

    revise(change) {
      const before = seen
      forget()
      if (before && change(before.entries)) seen = { entries: before.entries, readAt: before.readAt }
    },
  }
}
