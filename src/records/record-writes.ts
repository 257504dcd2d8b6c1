import { mergeStored } from './merge-stored.ts'
import type { Records } from './records.ts'
import { handleStorageError, retryOnConflict } from './storage-access.ts'
import type { Envelope, StoredEntry } from './stored-records.ts'

/** Records that can be changed. */
export interface WritableRecords<T> extends Records<T> {
  /**
   * Inserts a record. Resolves to `false` if the ID is taken. `order` keeps the position of a renamed record. With it, a store without `watch`
   * doesn't have to list all other records.
   */
  insert(id: string, record: T, order?: number): Promise<boolean>
  /**
   * Applies `change` to the current record; retries if another write came first. Resolves to `undefined` if there is no record, or if `change`
   * returns `undefined` to leave the record unchanged. Rejects if `change` throws. `version` is the stored record's version.
   */
  update(
    id: string,
    change: (current: T, version: string) => T | undefined | Promise<T | undefined>,
  ): Promise<T | undefined>
  /** Replaces or inserts a record, even if the stored record is unusable. */
  upsert(id: string, record: T): Promise<void>
  /** Replaces an unusable record. Resolves to `false` if there is none, or if another write came first. */
  replaceDamaged(id: string, record: T): Promise<boolean>
  /** Removes a record if `onlyIf` accepts it. Resolves to the removed record and its order. */
  remove(
    id: string,
    onlyIf?: (current: T, version: string) => boolean,
  ): Promise<{ record: T; order: number } | undefined>
}

/** Adds write operations to records, for management only. Call it once per type of record. */
export function createWritableRecords<T extends object>(records: Records<T>): WritableRecords<T> {
  const { storage, stored, view, appliesOwnWrites, pendingInserts } = records.source
  const { getKey, read, toEntry } = stored
  let lastOrder = 0 // the last order that this gateway assigned

  const write = (key: string, envelope: Envelope<T>, ifVersion: string | null) =>
    storage.set(key, JSON.stringify(envelope), { ifVersion }).catch(handleStorageError('write', key))

  /** Waits for a write, then updates the entries in memory with `apply`, which returns whether they are complete. */
  async function applyWrite<R>(
    pendingWrite: Promise<R>,
    apply: (entries: StoredEntry<T>[], result: R) => boolean,
  ): Promise<R> {
    const result = await pendingWrite.catch((cause: unknown) => {
      view.expire() // the write may have succeeded anyway, so reread
      throw cause
    })
    view.applyChange((entries) => apply(entries, result) && appliesOwnWrites)
    return result
  }

  async function insert(id: string, record: T, order?: number) {
    const key = getKey(id)
    if (appliesOwnWrites) await read(id) // by then, `watch` has reported other writers' changes
    const hasOrder = order !== undefined && !appliesOwnWrites
    const entries = hasOrder ? [] : (await (appliesOwnWrites ? view.current() : view.reread())).entries // another process may have just inserted a record
    lastOrder = Math.max(lastOrder, entries.at(-1)?.order ?? 0) + 1
    const envelope = { order: order ?? lastOrder, record }
    if (appliesOwnWrites) pendingInserts.add(key)
    const pendingWrite = write(key, envelope, null).finally(() => void pendingInserts.delete(key))
    const version = await applyWrite(pendingWrite, (currentEntries, version) => {
      if (version === false) return false
      const entry = toEntry(id, envelope, version)
      const isLast = currentEntries === entries && (currentEntries.at(-1)?.order ?? 0) <= envelope.order
      return isLast ? currentEntries.push(entry) > 0 : insertEntry(currentEntries, entry) && false
    })
    return version !== false
  }

  const update: WritableRecords<T>['update'] = (id, change) =>
    retryOnConflict(async () => {
      const key = getKey(id)
      const storedEntry = await read(id)
      if (!storedEntry || storedEntry === 'damaged') return undefined
      const record = await change(storedEntry.record, storedEntry.version)
      if (record === undefined) return undefined
      const { order, stored: storedRecord } = storedEntry
      const envelope = { order, record: storedRecord ? mergeStored(storedRecord, storedEntry.record, record) : record }
      const version = await applyWrite(
        write(key, envelope, storedEntry.version),
        (entries, version) =>
          version !== false && insertEntry(entries, toEntry(id, envelope, version), storedEntry.version),
      )
      return version !== false && record
    })

  async function replaceDamaged(id: string, record: T): Promise<boolean> {
    if ((await read(id)) !== 'damaged') return false
    const key = getKey(id)
    const stored = await storage.get(key).catch(handleStorageError('read', key))
    if (!stored) return false
    const envelope = { order: ++lastOrder, record }
    const version = await applyWrite(
      write(key, envelope, stored.version),
      (entries, version) => version !== false && insertEntry(entries, toEntry(id, envelope, version)),
    )
    return version !== false
  }

  return {
    ...records,
    insert,
    update,
    replaceDamaged,

    upsert: async (id, record) =>
      void (await retryOnConflict(
        async () =>
          (await update(id, () => record)) !== undefined || (await insert(id, record)) || replaceDamaged(id, record),
      )),

    remove: (id, onlyIf) =>
      retryOnConflict(async () => {
        const key = getKey(id)
        const storedEntry = await read(id)
        if (!storedEntry || storedEntry === 'damaged' || onlyIf?.(storedEntry.record, storedEntry.version) === false)
          return undefined
        const pendingDelete = storage
          .delete(key, { ifVersion: storedEntry.version })
          .catch(handleStorageError('write', key))
        const isRemoved = await applyWrite(
          pendingDelete,
          (entries, isRemoved) => isRemoved && removeEntry(entries, id) === storedEntry.version,
        )
        return isRemoved && { record: storedEntry.record, order: storedEntry.order }
      }),
  }
}

/** Inserts or replaces an entry by its order. Returns whether the replaced entry had this version; without a version, whether none was replaced. */
function insertEntry<T>(entries: StoredEntry<T>[], entry: StoredEntry<T>, version?: string): boolean {
  const index = entries.findIndex(({ id }) => id === entry.id)
  if (index >= 0) return entries.splice(index, 1, entry)[0]?.version === version
  const precedingIndex = entries.findLastIndex(({ order }) => order <= entry.order)
  entries.splice(precedingIndex + 1, 0, entry)
  return version === undefined
}

/** Removes an entry and returns its version. */
function removeEntry<T>(entries: StoredEntry<T>[], id: string): string | undefined {
  const index = entries.findIndex((entry) => entry.id === id)
  return index < 0 ? undefined : entries.splice(index, 1)[0]?.version
}
