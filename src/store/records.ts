import { gatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { once } from '../lib/once.ts'
import type { Clock, Storage, Stored } from '../types.ts'
import { storageFailure } from './failure.ts'
import type { Freshness } from './freshness.ts'

/** The records of one kind, one for each storage key, with all of them in memory. */
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
  update(id: string, change: (current: T) => T | undefined): Promise<T | undefined>
  /** Replaces the record, or inserts it. */
  upsert(id: string, record: T): Promise<void>
  /** Removes a record, if `onlyIf` accepts it; resolves to the removed record and its order. */
  remove(id: string, onlyIf?: (current: T) => boolean): Promise<{ record: T; order: number } | undefined>
}

/** A record with its id and its place in the order of creation. */
export interface Entry<T> {
  id: string
  order: number
  record: T
}

/** A record as it is stored. */
export interface Envelope<T> {
  order: number
  record: T
}

/** What changing records takes of what reads them. */
export interface RecordReads<T> {
  storage: Storage
  keyOf(id: string): string
  /** Throws `STORAGE_FAILED`. */
  read(key: string): Promise<(Stored & Envelope<T>) | undefined>
  entries(): Promise<Entry<T>[]>
  /** Drops what is in memory; but if that is still `grown`, it stays with `entry` behind it. */
  forget(grown?: Entry<T>[], entry?: Entry<T>): void
  /** Does what is in memory grow with an insertion? */
  grows: boolean
  /** The keys under way, whose changes are the gateway's own. */
  inserting: Set<string>
}

interface View<T> {
  entries: Entry<T>[]
  records?: readonly T[] | undefined
  readAt: number
}

/**
 * `prefix` ends with a slash; the id follows it, percent-encoded. `hasSecretIds`: nobody can change a record that is being inserted,
 * so that the view grows with it and is not read again, which with many records is what an insertion costs.
 */
export function createRecords<T extends object>(
  prefix: string,
  deps: { storage: Storage; clock: Clock; freshness: Freshness; hasSecretIds?: boolean },
): Records<T> {
  const { storage, clock, freshness } = deps
  const grows = deps.hasSecretIds === true && freshness.isWatched
  const inserting = new Set<string>()
  let view: View<T> | undefined
  let loading: Promise<View<T>> | undefined
  let epoch = 0 // counts changes, so that a read under way during one is not kept

  freshness.onChange((key) => {
    if (key.startsWith(prefix) && !inserting.has(key)) forget()
  })

  function forget(grown?: Entry<T>[], entry?: Entry<T>) {
    const isKept = entry && view?.entries === grown && !((grown?.at(-1)?.order ?? 0) > entry.order)
    epoch++
    loading = undefined
    if (isKept) grown?.push(entry)
    view = isKept && view ? { entries: view.entries, readAt: view.readAt } : undefined
  }

  async function load() {
    const startedIn = epoch
    const readAt = clock.now()
    const stored = await listAll(storage, prefix)
    const entries = stored
      .map(({ key, value }) => ({ id: idOf(key), ...parse(key, value) }))
      .sort((a, b) => a.order - b.order)
    const loaded: View<T> = { entries, readAt }
    if (startedIn === epoch) view = loaded
    return loaded
  }

  function current(): Awaitable<View<T>> {
    if (view && freshness.isFresh(view.readAt)) return view
    if (view) forget()
    loading ??= load().finally(() => {
      loading = undefined
    })
    return loading
  }

  function parse(key: string, text: string): Envelope<T> {
    const envelope = tryParseJson(text)
    if (isObject(envelope) && typeof envelope.order === 'number' && isObject(envelope.record)) {
      return { order: envelope.order, record: envelope.record as T } // written by `write` below, through a validated operation
    }
    throw gatewayError('STORAGE_FAILED', { message: `A record of the storage cannot be read: ${key}` })
  }

  const keyOf = (id: string) => prefix + encodeURIComponent(id)

  function idOf(key: string) {
    try {
      return decodeURIComponent(key.slice(prefix.length))
    } catch (cause) {
      throw storageFailure('read', key, cause)
    }
  }

  async function read(key: string): Promise<(Stored & Envelope<T>) | undefined> {
    const stored = await storage.get(key).catch((cause: unknown) => {
      throw storageFailure('read', key, cause)
    })
    return stored && { ...stored, ...parse(key, stored.value) }
  }

  const writes = once(async () => {
    const { createRecordWrites } = await import('./record-writes.ts')
    const entries = async () => (await current()).entries
    return createRecordWrites<T>({ storage, keyOf, read, entries, forget, grows, inserting })
  })

  return {
    all() {
      const seen = current()
      return isPromise(seen) ? seen.then(recordsOf) : recordsOf(seen)
    },

    async entries({ fresh = false } = {}) {
      if (fresh) forget()
      return (await current()).entries
    },

    get: async (id) => (await read(keyOf(id)))?.record,

    insert: async (...args) => (await writes()).insert(...args),
    update: async (...args) => (await writes()).update(...args),
    upsert: async (...args) => (await writes()).upsert(...args),
    remove: async (...args) => (await writes()).remove(...args),
  }
}

const recordsOf = <T>(view: View<T>): readonly T[] => (view.records ??= view.entries.map(({ record }) => record))

const PAGE = 1_000

async function listAll(storage: Storage, prefix: string) {
  const all: Array<Stored & { key: string }> = []
  for (;;) {
    const after = all.at(-1)?.key
    const page = await storage
      .list(prefix, after === undefined ? { limit: PAGE } : { limit: PAGE, after })
      .catch((cause: unknown) => {
        throw storageFailure('list', prefix, cause)
      })
    all.push(...page)
    if (page.length < PAGE) return all
  }
}
