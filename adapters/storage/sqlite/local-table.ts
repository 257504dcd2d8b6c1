import type { Stored } from '../../../src/index.ts'
import type { Row } from '../lib/row-operations.ts'

/** The keys that a listing reads, in table order. */
export interface KeyRange {
  prefix: string
  /** Lists only keys after this key. */
  after?: string | undefined
}

/** Changes made by other connections. */
export interface ForeignChanges {
  keys: string[]
  /** Whether there were more changes than `keys` can name. */
  isGap: boolean
}

/** A store's rows in a local database. `put`, `remove`, `finish`, and `sweep` run inside the caller's transaction. */
export interface LocalTable {
  /** Returns the row, unless it has expired. */
  get(key: string, now: number): Row | undefined
  /** Returns the first `limit` live rows in a range, ordered by key. */
  page(range: KeyRange, limit: number, now: number): Array<Stored & { key: string }>
  /** Called when the caller's transaction begins. */
  begin(): void
  put(key: string, row: Row, isRelaxed: boolean): void
  /** Removes a row. Returns whether a relaxed write had written it. */
  remove(key: string): { isRelaxed: boolean }
  /** Called before a transaction that has changed these keys is committed. */
  finish(keys: readonly string[]): void
  /** Forgets the effects of `put`, `remove`, and `finish` after the transaction was rolled back. */
  undo(): void
  /** Makes `takeChanges` skip everything up to now. */
  skipChanges(): void
  /** Returns the changes that other connections have made since the last call. */
  takeChanges(): ForeignChanges
  /** Removes some of the expired rows. Returns whether there are more. */
  sweep(now: number): boolean
}
