import type { Storage } from '../types.ts'
import { storageFailure } from './failure.ts'
import type { RecordView } from './record-view.ts'
import type { Records } from './records.ts'
import { retryLostRace } from './retry-lost-race.ts'
import type { Entry, Envelope, StoredRecords } from './stored-records.ts'

/** What changing records takes of what reads them. */
export interface RecordReads<T> {
  storage: Storage
  stored: StoredRecords<T>
  view: RecordView<T>
  /** Does the view grow with an insertion? */
  grows: boolean
  /** The keys under way, whose changes are the gateway's own. */
  inserting: Set<string>
}

/** The changes of one kind of records, apart from what reads them, since only management makes any. */
export function createRecordWrites<T extends object>(
  reads: RecordReads<T>,
): Pick<Records<T>, 'insert' | 'update' | 'upsert' | 'remove'> {
  const { storage, view, grows, inserting } = reads
  const { keyOf, read } = reads.stored
  let last = 0 // the last place that was given here

  async function write(key: string, envelope: Envelope<T>, ifVersion: string | null) {
    try {
      return (await storage.set(key, JSON.stringify(envelope), { ifVersion })) !== false
    } catch (cause) {
      throw storageFailure('write', key, cause)
    }
  }

  async function insert(id: string, record: T, order?: number) {
    const key = keyOf(id)
    if (grows)
      await read(key) // others' changes have been told by then
    else view.forget() // another process may have inserted a moment ago
    const { entries } = await view.current()
    last = Math.max(last, entries.at(-1)?.order ?? 0) + 1
    const envelope = { order: order ?? last, record }
    let entry: Entry<T> | undefined
    if (grows) inserting.add(key)
    try {
      const isNew = await write(key, envelope, null)
      if (isNew && grows) entry = { id, ...envelope }
      return isNew
    } finally {
      inserting.delete(key)
      if (entry) view.grow(entries, entry)
      else view.forget()
    }
  }

  const update = (id: string, change: (current: T) => T | undefined) =>
    retryLostRace(async () => {
      const key = keyOf(id)
      const found = await read(key)
      if (!found) return undefined
      const record = change(found.record)
      if (record === undefined) return undefined
      const isDone = await write(key, { order: found.order, record }, found.version).finally(view.forget)
      return isDone && record
    })

  return {
    insert,
    update,

    upsert: async (id, record) =>
      void (await retryLostRace(async () => (await update(id, () => record)) !== undefined || insert(id, record))),

    remove: (id, onlyIf) =>
      retryLostRace(async () => {
        const key = keyOf(id)
        const found = await read(key)
        if (!found || onlyIf?.(found.record) === false) return undefined
        const removed = await storage
          .delete(key, { ifVersion: found.version })
          .catch((cause: unknown) => {
            throw storageFailure('write', key, cause)
          })
          .finally(view.forget) // a delete that failed may have been done all the same
        return removed && { record: found.record, order: found.order }
      }),
  }
}
