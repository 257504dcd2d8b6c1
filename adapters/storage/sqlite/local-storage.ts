import type { Storage, Stored } from '../../../src/index.ts'
import { deleteRow, incrementRow, setRow } from '../lib/row-operations.ts'
import { checkTtl } from '../lib/value-limits.ts'
import type { KeyRange, LocalTable } from './local-table.ts'
import type { LocalEngine } from './sqlite-engine.ts'

/** An opened database. */
export interface OpenedTable {
  engine: LocalEngine
  table: LocalTable
}

/** Options for `createLocalOperations`. */
export interface LocalStorageOptions {
  /** Returns the database, which is opened on first use. Throws once the storage is closed. */
  openTable(): OpenedTable | Promise<OpenedTable>
  /** Throws if the store can't store the key or the value exactly. */
  checkWrite(key: string, value: string): void
}

/** Implements the `Storage` operations on a local database. They reject with errors that have a `code`. */
export function createLocalOperations({ openTable, checkWrite }: LocalStorageOptions) {
  /** Runs `work` on the store. Adds no promise if the database is already open. */
  function use<T>(work: (store: OpenedTable) => Promise<T>): Promise<T> {
    try {
      const store = openTable()
      return store instanceof Promise ? store.then(work) : work(store)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  return {
    get: (key) =>
      use(({ engine, table }) =>
        engine.read((now) => {
          const row = table.get(key, now)
          return row && { value: row.value, version: row.version }
        }),
      ),

    async set(key, value, { ttlMs, ifVersion, durability } = {}) {
      checkTtl(ttlMs)
      checkWrite(key, value)
      const write = { value, ...(ttlMs !== undefined && { ttlMs }), ...(ifVersion !== undefined && { ifVersion }) }
      return use(({ engine }) =>
        engine.write((rows, stamp) => setRow(rows, key, write, stamp), durability === 'relaxed'),
      )
    },

    delete: (key, condition) => use(({ engine }) => engine.write((rows) => deleteRow(rows, key, condition))),

    async increment(key, by, { ttlMs } = {}) {
      checkTtl(ttlMs)
      checkWrite(key, '')
      return use(({ engine }) => engine.write((rows, stamp) => incrementRow(rows, key, { by, ttlMs }, stamp)))
    },

    list: (prefix, { after, limit = Number.POSITIVE_INFINITY } = {}) =>
      use((store) => listSlices(store, { prefix, after }, limit)),
  } satisfies Partial<Storage>
}

/** How many rows a listing's first slice has. Later slices are sized to fit in `SLICE_MS`, so large rows make small slices. */
const FIRST_SLICE_ROWS = 64
const SLICE_MS = 3
const MAX_SLICE_ROWS = 2_000

/** Lists a range in slices, so other work can run in between. */
async function listSlices({ engine, table }: OpenedTable, range: KeyRange, limit: number) {
  const found: Array<Stored & { key: string }> = []
  let { after } = range
  for (let size = FIRST_SLICE_ROWS; found.length < limit; ) {
    const rows = Math.min(size, limit - found.length)
    const startedAt = performance.now()
    const slice = await engine.read((now) => table.page({ prefix: range.prefix, after }, rows, now))
    const tookMs = performance.now() - startedAt
    for (const row of slice) found.push(row)
    after = slice.at(-1)?.key
    if (slice.length < rows || found.length >= limit) break
    size = Math.max(1, Math.min(MAX_SLICE_ROWS, Math.floor((size * SLICE_MS) / Math.max(tookMs, 0.1))))
    await pause()
  }
  return found
}

/** Lets other work run. */
function pause(): Promise<void> {
  const setImmediate: unknown = Reflect.get(globalThis, 'setImmediate')
  return new Promise(
    (resolve) => void (typeof setImmediate === 'function' ? setImmediate(resolve) : setTimeout(resolve, 0)),
  )
}
