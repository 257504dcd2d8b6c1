import type { Awaitable } from '../lib/awaitable.ts'
import type { Storage } from '../types.ts'
import { failedTo } from './away.ts'
import { overStored } from './readings.ts'
import type { RecordView } from './record-view.ts'
import type { Records } from './records.ts'
import { retryLostRace } from './retry-lost-race.ts'
import type { Entry, Envelope, StoredRecords } from './stored-records.ts'

/** What changing records takes of what reads them. */
export interface RecordReads<T> {
  storage: Storage
  stored: StoredRecords<T>
  view: RecordView<T>
  /** Are changes made to the view as well, since others' are told? */
  follows: boolean
  /** The keys under way, whose changes are the gateway's own. */
  inserting: Set<string>
}

/** The changes of one kind of records, apart from what reads them, since only management makes any. */
export function createRecordWrites<T extends object>(
  reads: RecordReads<T>,
): Pick<Records<T>, 'insert' | 'update' | 'upsert' | 'remove'> {
  const { storage, view, follows, inserting } = reads
  const { keyOf, read, written } = reads.stored
  let last = 0 // the last place that was given here

  const write = (key: string, envelope: Envelope<T>, ifVersion: string | null) =>
    storage.set(key, JSON.stringify(envelope), { ifVersion }).catch(failedTo('write', key))

  /** Waits for a change and has `follow` make it to the entries in memory, too; where it cannot, they are forgotten. */
  async function followed<R>(change: Promise<R>, follow: (entries: Entry<T>[], result: R) => boolean): Promise<R> {
    const result = await change.catch((cause: unknown) => {
      view.expire() // it may have been made all the same
      throw cause
    })
    view.revise((entries) => follows && follow(entries, result))
    return result
  }

  async function insert(id: string, record: T, order?: number) {
    const key = keyOf(id)
    if (follows)
      await read(id) // the watch has reported the changes of others by then
    else view.drop() // another process may have inserted a moment ago
    const { entries } = await view.current()
    last = Math.max(last, entries.at(-1)?.order ?? 0) + 1
    const envelope = { order: order ?? last, record }
    if (follows) inserting.add(key)
    const writing = write(key, envelope, null).finally(() => void inserting.delete(key))
    const version = await followed(writing, (current, version) => {
      if (version === false || current !== entries || (current.at(-1)?.order ?? 0) > envelope.order) return false
      return current.push(written(id, envelope, version)) > 0
    })
    return version !== false
  }

  const update = (id: string, change: (current: T) => Awaitable<T | undefined>) =>
    retryLostRace(async () => {
      const key = keyOf(id)
      const found = await read(id)
      if (!found || found === 'damaged') return undefined
      const record = await change(found.record)
      if (record === undefined) return undefined
      const { order, stored } = found
      const envelope = { order, record: stored ? overStored(stored, found.record, record) : record }
      const version = await followed(
        write(key, envelope, found.version),
        (entries, version) =>
          version !== false && replace(entries, { id, version: found.version }, written(id, envelope, version)),
      )
      return version !== false && record
    })

  /** `false` when there is none, or another writer was faster. */
  async function replaceDamaged(id: string, record: T): Promise<boolean> {
    if ((await read(id)) !== 'damaged') return false
    const key = keyOf(id)
    const stored = await storage.get(key).catch(failedTo('read', key))
    if (!stored) return false
    const envelope = { order: ++last, record }
    return (await followed(write(key, envelope, stored.version), () => false)) !== false
  }

  return {
    insert,
    update,

    upsert: async (id, record) =>
      void (await retryLostRace(
        async () =>
          (await update(id, () => record)) !== undefined || (await insert(id, record)) || replaceDamaged(id, record),
      )),

    remove: (id, onlyIf) =>
      retryLostRace(async () => {
        const key = keyOf(id)
        const found = await read(id)
        if (!found || found === 'damaged' || onlyIf?.(found.record) === false) return undefined
        const removing = storage.delete(key, { ifVersion: found.version }).catch(failedTo('write', key))
        const isRemoved = await followed(
          removing,
          (entries, isRemoved) => isRemoved && replace(entries, { id, version: found.version }),
        )
        return isRemoved && { record: found.record, order: found.order }
      }),
  }
}

/** Puts `next`, or nothing, in the place of the entry that was changed, if it is still the one in memory: nobody can have changed it since. */
function replace<T>(entries: Entry<T>[], was: Pick<Entry<T>, 'id' | 'version'>, next?: Entry<T>): boolean {
  const at = entries.findIndex(({ id }) => id === was.id)
  if (entries[at]?.version !== was.version) return false
  entries.splice(at, 1, ...(next ? [next] : []))
  return true
}
