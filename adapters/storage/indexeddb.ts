import { promisifyRequest } from 'idb-keyval'
import type { Clock, Storage, Stored } from '../../src/index.ts'
import { checkOptions } from '../lib/check-options.ts'
import { type Database, openDatabase, type Stores } from './indexeddb/database.ts'
import { createFeed } from './indexeddb/indexeddb-feed.ts'
import { describeForeignRow, incrementSum, type Row } from './lib/row-operations.ts'
import { getLiveRow } from './lib/row-table.ts'
import { createRunningOperations } from './lib/running-operations.ts'
import { createStorageError } from './lib/storage-error.ts'
import { checkWrite } from './lib/value-limits.ts'

/** Options for `indexeddbStorage`; all are optional. */
export interface IndexeddbStorageOptions {
  /** The name of the database, which every page and worker of the site can open. Default: `signalbox`. */
  name?: string
  /** The clock used to measure `ttlMs`. Default: the platform's. */
  clock?: Pick<Clock, 'now'>
}

/**
 * Stores all data in the browser's IndexedDB. Atomic for all pages and workers of the site; a write resolves once it is on disk. The store's secret
 * is a key that scripts can't read. Errors have a `code` (`STORAGE_…`). Throws a TypeError for invalid options.
 */
export function indexeddbStorage(options: IndexeddbStorageOptions = {}): Storage {
  checkOptions(options, { name: true, clock: true })
  const { name = 'signalbox', clock = { now: () => Date.now() } } = options
  if (typeof name !== 'string' || name === '') throw new TypeError('name must be a database name.')
  const store = `The IndexedDB database "${name}"`
  const limits = { ...LIMITS, store }
  const database = openDatabase(name, () => feed.reportGap())
  const feed = createFeed(name, database)
  const operations = createRunningOperations(store)
  let writes = 0

  const read = <T>(work: (records: IDBObjectStore) => Promise<T>) =>
    operations.run(() =>
      database.read(async ({ records, changes }) => {
        await feed.onRead(changes)
        return work(records)
      }),
    )

  /**
   * Reads a row and writes the next one in one transaction. If `next` returns `null`, the row is removed; `undefined` leaves it unchanged. Resolves
   * to the result of `next`.
   */
  const change = (key: string, next: (row: Row | undefined, now: number) => Row | null | undefined) =>
    operations.run(async () => {
      const now = clock.now()
      const result = await database.write(async ({ records, changes }) => {
        const row = next(getLiveRow(toRow(await promisifyRequest<unknown>(records.get(key))), now), now)
        if (row === undefined) return row
        row ? records.put(row, key) : records.delete(key)
        feed.add(changes, key)
        if (++writes % SWEEP_INTERVAL === 0) sweep(records, now)
        return row
      })
      if (result !== undefined) feed.announce()
      return result
    })

  return {
    atomic: true,
    ...LIMITS,

    get: (key) =>
      read(async (records) => {
        const row = getLiveRow(toRow(await promisifyRequest<unknown>(records.get(key))), clock.now())
        return row && { value: row.value, version: row.version }
      }),

    list: (prefix, options) => read((records) => listRows(records, prefix, { ...options, now: clock.now() })),

    async set(key, value, { ifVersion, ttlMs } = {}) {
      checkWrite(key, value, ttlMs, limits)
      const row = { value, version: crypto.randomUUID() }
      const result = await change(key, (current, now) => {
        if (ifVersion !== undefined && (current?.version ?? null) !== ifVersion) return undefined
        return ttlMs === undefined ? row : { ...row, expiresAt: now + ttlMs }
      })
      return result !== undefined && row.version
    },

    async delete(key, { ifVersion } = {}) {
      const meetsCondition = (row: Row | undefined) => row && (ifVersion === undefined || row.version === ifVersion)
      return (await change(key, (row) => (meetsCondition(row) ? null : undefined))) === null
    },

    async increment(key, by, { ttlMs } = {}) {
      checkWrite(key, '', ttlMs, limits)
      const result = await change(key, (current, now) => ({
        ...(current ?? (ttlMs !== undefined && { expiresAt: now + ttlMs })),
        value: String(incrementSum(key, current, by)),
        version: crypto.randomUUID(),
      }))
      return Number(result?.value)
    },

    watch: feed.watch,

    ownSecret: () => operations.run(() => readSecret(database, store)),

    async close() {
      await operations.close()
      feed.close()
      database.close()
    },
  }
}

const LIMITS = { largestValueBytes: 16 * 1024 * 1024, longestKeyBytes: 4_096 }
const SECRET_KEY = 'secret'
/** Rows per read. */
const PAGE_SIZE = 1_000
/** How many writes to make between sweeps of expired rows. */
const SWEEP_INTERVAL = 100

function isRow(found: unknown): found is Row {
  const { value, version }: { value?: unknown; version?: unknown } = Object(found)
  return typeof value === 'string' && typeof version === 'string'
}

/**
 * Converts a stored value to a row. A value from another program is read as one damaged record, which doesn't hide other records and can be replaced.
 */
const toRow = (found: unknown): Row | undefined =>
  found === undefined || isRow(found) ? found : { value: describeForeignRow(found), version: 'foreign' }

/** Implements `Storage.list`, in one transaction. */
async function listRows(
  records: IDBObjectStore,
  prefix: string,
  { after = '', limit = Number.POSITIVE_INFINITY, now }: { after?: string; limit?: number; now: number },
) {
  const entries: Array<Stored & { key: string }> = []
  const end = getUpperBound(prefix)
  if (typeof end === 'string' && after >= end) return entries
  for (let last = after >= prefix ? after : undefined; entries.length < limit; ) {
    const range = IDBKeyRange.bound(last ?? prefix, end, last !== undefined, true)
    const count = Math.min(PAGE_SIZE, limit - entries.length)
    const [keys, rows] = await Promise.all([
      promisifyRequest<IDBValidKey[]>(records.getAllKeys(range, count)),
      promisifyRequest<unknown[]>(records.getAll(range, count)),
    ])
    for (const [index, key] of keys.map(String).entries()) {
      last = key
      const row = getLiveRow(toRow(rows[index]), now)
      if (row) entries.push({ key, value: row.value, version: row.version })
    }
    if (keys.length < count) break
  }
  return entries
}

/** Returns the smallest key greater than all keys with this prefix: a string, or empty bytes, which the database orders after every string. */
function getUpperBound(prefix: string): string | Uint8Array<ArrayBuffer> {
  for (let last = prefix.length - 1; last >= 0; last--) {
    const unit = prefix.charCodeAt(last)
    if (unit < 0xffff) return prefix.slice(0, last) + String.fromCharCode(unit + 1)
  }
  return new Uint8Array(0)
}

function sweep(records: IDBObjectStore, now: number): void {
  const request = records.index('expiresAt').openKeyCursor(IDBKeyRange.upperBound(now))
  request.onsuccess = () => {
    const cursor = request.result
    if (!cursor) return
    records.delete(cursor.primaryKey)
    cursor.continue()
  }
}

/** Implements `Storage.ownSecret`: 32 random bytes that scripts can't read, but from which other keys can be derived. */
async function readSecret(database: Database, store: string): Promise<CryptoKey> {
  const find = ({ own }: Stores) => promisifyRequest<unknown>(own.get(SECRET_KEY))
  let secret = await database.read(find)
  if (secret === undefined) {
    const bytes = crypto.getRandomValues(new Uint8Array(32))
    const created = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey'])
    secret = await database.write(async (stores) => {
      const others = await find(stores)
      if (others === undefined) stores.own.put(created, SECRET_KEY)
      return others ?? created
    })
  }
  if (secret instanceof CryptoKey && secret.algorithm.name === 'HKDF') return secret
  throw createStorageError(
    'STORAGE_SECRET_INVALID',
    `${store} has a damaged secret, so no credential can be decrypted. Delete the database to start over.`,
  )
}
