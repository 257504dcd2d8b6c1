import { gatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Clock, Storage, Stored } from '../types.ts'
import { storageFailure } from './failure.ts'
import type { Freshness } from './freshness.ts'
import { retryLostRace } from './retry-lost-race.ts'

/** The records of one kind, one a storage key, with a view of all of them in memory. */
export interface Records<T> {
  /** All records in the order of their creation; the same array as long as nothing changed. Throws `STORAGE_FAILED`. */
  all(): Awaitable<readonly T[]>
  /** The same with their ids and places; `fresh` reads the storage again, for what must not be up to a second old. */
  entries(options?: { fresh?: boolean }): Promise<ReadonlyArray<Entry<T>>>
  get(id: string): Promise<T | undefined>
  /** `false` when the id is taken. `order` keeps a renamed record in its place. */
  insert(id: string, record: T, order?: number): Promise<boolean>
  /**
   * Applies `change` to the current record, again when another writer was faster; `undefined` when there is none, or when `change`
   * answers `undefined`, which leaves it as it is. What `change` throws goes to the caller.
   */
  update(id: string, change: (current: T) => T | undefined): Promise<T | undefined>
  /** Puts the record in the place of the one that is there, or inserts it. */
  upsert(id: string, record: T): Promise<void>
  /** Answers the record that was removed, with its place in the order. With `onlyIf` it stays unless the current record passes. */
  remove(id: string, onlyIf?: (current: T) => boolean): Promise<{ record: T; order: number } | undefined>
}

/** A record, the id it is filed under, and its place in the order of creation. */
export interface Entry<T> {
  id: string
  order: number
  record: T
}

interface Envelope<T> {
  order: number
  record: T
}

/** `prefix` ends with a slash; the id follows it, percent-encoded. */
export function createRecords<T extends object>(
  prefix: string,
  deps: { storage: Storage; clock: Clock; freshness: Freshness },
): Records<T> {
  const { storage, clock, freshness } = deps
  let view: { entries: Entry<T>[]; records: readonly T[]; readAt: number } | undefined
  let loading: Promise<NonNullable<typeof view>> | undefined
  let epoch = 0 // counts changes, so that a read under way during one is not kept

  freshness.onChange((key) => {
    if (key.startsWith(prefix)) forget()
  })

  function forget() {
    epoch++
    view = undefined
    loading = undefined
  }

  async function load() {
    const startedIn = epoch
    const readAt = clock.now()
    const stored = await listAll(storage, prefix)
    const entries = stored
      .map(({ key, value }) => ({ id: idOf(key), ...parse(key, value) }))
      .sort((a, b) => a.order - b.order)
    const loaded = { entries, records: entries.map((entry) => entry.record), readAt }
    if (startedIn === epoch) view = loaded
    return loaded
  }

  function current(): Awaitable<NonNullable<typeof view>> {
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

  async function write(key: string, envelope: Envelope<T>, ifVersion: string | null) {
    try {
      return (await storage.set(key, JSON.stringify(envelope), { ifVersion })) !== false
    } catch (cause) {
      throw storageFailure('write', key, cause)
    } finally {
      forget()
    }
  }

  async function read(key: string): Promise<(Stored & Envelope<T>) | undefined> {
    const stored = await storage.get(key).catch((cause: unknown) => {
      throw storageFailure('read', key, cause)
    })
    return stored && { ...stored, ...parse(key, stored.value) }
  }

  async function insert(id: string, record: T, order?: number) {
    forget() // another process may have inserted a moment ago
    const last = (await current()).entries.at(-1)?.order ?? 0
    return write(keyOf(id), { order: order ?? last + 1, record }, null)
  }

  const update = (id: string, change: (current: T) => T | undefined) =>
    retryLostRace(async () => {
      const found = await read(keyOf(id))
      if (!found) return undefined
      const record = change(found.record)
      if (record === undefined) return undefined
      return (await write(keyOf(id), { order: found.order, record }, found.version)) && record
    })

  return {
    all() {
      const seen = current()
      return isPromise(seen) ? seen.then(({ records }) => records) : seen.records
    },

    async entries({ fresh = false } = {}) {
      if (fresh) forget()
      return (await current()).entries
    },

    get: async (id) => (await read(keyOf(id)))?.record,

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
          .finally(forget) // a delete that failed may have been done all the same
        return removed && { record: found.record, order: found.order }
      }),
  }
}

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
