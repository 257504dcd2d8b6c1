import type { Stored } from '../../../src/index.ts'
import { createOrderedKeys, type OrderedKeys } from './ordered-keys.ts'
import type { Row } from './row-operations.ts'

/** Rows by key. They are sorted on the first call to `list`. */
export interface Table {
  /** Returns the row, unless it has expired at `now`. */
  get(key: string, now: number): Row | undefined
  put(key: string, row: Row): void
  remove(key: string): void
  /** Implements `Storage.list`. Its cost depends on the number of rows it returns, not on the total number of rows. */
  list(prefix: string, options: { after?: string; limit?: number; now: number }): Array<Stored & { key: string }>
  /** Returns every row in no particular order, including expired ones. */
  entries(): IterableIterator<[string, Row]>
  readonly size: number
}

/** Creates a table of `rows`, which the caller must not use afterward. */
export function createTable(rows: Map<string, Row> = new Map()): Table {
  let keys: OrderedKeys | undefined

  return {
    get: (key, now) => getLiveRow(rows.get(key), now),

    put(key, row) {
      if (keys && !rows.has(key)) keys.add(key)
      rows.set(key, row)
    },

    remove(key) {
      if (rows.delete(key)) keys?.remove(key)
    },

    list(prefix, { after, limit = Number.POSITIVE_INFINITY, now }) {
      keys ??= createOrderedKeys(rows.keys())
      const start = after !== undefined && after >= prefix ? `${after}\0` : prefix // the smallest string after `after`
      const found: Array<Stored & { key: string }> = []
      for (const key of keys.from(start)) {
        if (found.length >= limit || !key.startsWith(prefix)) break
        const row = getLiveRow(rows.get(key), now)
        if (row) found.push({ key, value: row.value, version: row.version })
      }
      return found
    },

    entries: () => rows.entries(),
    get size() {
      return rows.size
    },
  }
}

/** Returns the row, unless it has expired. */
export function getLiveRow(row: Row | undefined, now: number): Row | undefined {
  return row?.expiresAt !== undefined && row.expiresAt <= now ? undefined : row
}
