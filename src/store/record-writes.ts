import { overStored } from './readings.ts'
import type { Records } from './records.ts'
import { failedTo, retryLostRace } from './storage-access.ts'
import type { Envelope, StoredEntry } from './stored-records.ts'

/** Records that can be changed. */
export interface WritableRecords<T> extends Records<T> {
  /**
   * Inserts a record; resolves to `false` when the id is taken. `order` keeps the place of a renamed record, and spares a storage without
   * `watch` a look at all others.
   */
  insert(id: string, record: T, order?: number): Promise<boolean>
  /**
   * Applies `change` to the current record, and again when another writer was faster. Resolves to `undefined` when there is no record, or
   * when `change` returns `undefined`, which leaves the record unchanged. Rejects with what `change` throws. `version` is that of the current
   * record in the storage.
   */
  update(
    id: string,
    change: (current: T, version: string) => T | undefined | Promise<T | undefined>,
  ): Promise<T | undefined>
  /** Replaces the record, one that cannot be used as well, or inserts it. */
  upsert(id: string, record: T): Promise<void>
  /** Removes a record, if `onlyIf` accepts it; resolves to the removed record and its order. */
  remove(
    id: string,
    onlyIf?: (current: T, version: string) => boolean,
  ): Promise<{ record: T; order: number } | undefined>
}

/** The same records with their changes, which only management makes. Call it once for each kind of records. */
export function writableRecords<T extends object>(records: Records<T>): WritableRecords<T> {
  const { storage, stored, view, follows, inserting } = records.source
  const { keyOf, read, written } = stored
  let last = 0 // the last place that was given here

  const write = (key: string, envelope: Envelope<T>, ifVersion: string | null) =>
    storage.set(key, JSON.stringify(envelope), { ifVersion }).catch(failedTo('write', key))

  /** Waits for a change and has `follow` make it to the entries in memory, too; it returns whether they are whole then. */
  async function followed<R>(
    change: Promise<R>,
    follow: (entries: StoredEntry<T>[], result: R) => boolean,
  ): Promise<R> {
    const result = await change.catch((cause: unknown) => {
      view.expire() // it may have been made all the same
      throw cause
    })
    view.revise((entries) => follow(entries, result) && follows)
    return result
  }

  async function insert(id: string, record: T, order?: number) {
    const key = keyOf(id)
    if (follows) await read(id) // the watch has reported the changes of others by then
    const isPlaced = order !== undefined && !follows
    const entries = isPlaced ? [] : (await (follows ? view.current() : view.reread())).entries // another process may have inserted a moment ago
    last = Math.max(last, entries.at(-1)?.order ?? 0) + 1
    const envelope = { order: order ?? last, record }
    if (follows) inserting.add(key)
    const writing = write(key, envelope, null).finally(() => void inserting.delete(key))
    const version = await followed(writing, (current, version) => {
      if (version === false) return false
      const entry = written(id, envelope, version)
      const isLast = current === entries && (current.at(-1)?.order ?? 0) <= envelope.order
      return isLast ? current.push(entry) > 0 : place(current, entry) && false
    })
    return version !== false
  }

  const update: WritableRecords<T>['update'] = (id, change) =>
    retryLostRace(async () => {
      const key = keyOf(id)
      const found = await read(id)
      if (!found || found === 'damaged') return undefined
      const record = await change(found.record, found.version)
      if (record === undefined) return undefined
      const { order, stored: before } = found
      const envelope = { order, record: before ? overStored(before, found.record, record) : record }
      const version = await followed(
        write(key, envelope, found.version),
        (entries, version) => version !== false && place(entries, written(id, envelope, version), found.version),
      )
      return version !== false && record
    })

  /** `false` when there is none, or another writer was faster. */
  async function replaceDamaged(id: string, record: T): Promise<boolean> {
    if ((await read(id)) !== 'damaged') return false
    const key = keyOf(id)
    const before = await storage.get(key).catch(failedTo('read', key))
    if (!before) return false
    const envelope = { order: ++last, record }
    const version = await followed(
      write(key, envelope, before.version),
      (entries, version) => version !== false && place(entries, written(id, envelope, version)),
    )
    return version !== false
  }

  return {
    ...records,
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
        if (!found || found === 'damaged' || onlyIf?.(found.record, found.version) === false) return undefined
        const removing = storage.delete(key, { ifVersion: found.version }).catch(failedTo('write', key))
        const isRemoved = await followed(
          removing,
          (entries, isRemoved) => isRemoved && removed(entries, id) === found.version,
        )
        return isRemoved && { record: found.record, order: found.order }
      }),
  }
}

/** Puts an entry in its place among the others. Returns whether it has replaced what had this version, by default nothing. */
function place<T>(entries: StoredEntry<T>[], entry: StoredEntry<T>, version?: string): boolean {
  const at = entries.findIndex(({ id }) => id === entry.id)
  if (at >= 0) return entries.splice(at, 1, entry)[0]?.version === version
  const after = entries.findLastIndex(({ order }) => order <= entry.order)
  entries.splice(after + 1, 0, entry)
  return version === undefined
}

/** Takes an entry out, and returns the version that it had. */
function removed<T>(entries: StoredEntry<T>[], id: string): string | undefined {
  const at = entries.findIndex((entry) => entry.id === id)
  return at < 0 ? undefined : entries.splice(at, 1)[0]?.version
}
