import type { SetOptions, Stored } from '../../../src/index.ts'
import { createStorageError } from './storage-error.ts'
import { checkTtl } from './value-limits.ts'

/** A stored value, and the time (epoch ms) from which it is treated as absent. */
export interface Row extends Stored {
  readonly expiresAt?: number
}

/** Rows that an operation reads and changes; `get` returns only rows that haven't expired. */
export interface Rows {
  get(key: string): Row | undefined
  put(key: string, row: Row): void
  remove(key: string): void
}

/** An operation's time, and the unique version of the row that it writes. */
export interface Stamp {
  readonly now: number
  readonly version: string
}

/** Implements `Storage.set` on rows in memory. Throws the same errors as `checkTtl`. */
export function setRow(rows: Rows, key: string, write: { value: string } & SetOptions, stamp: Stamp): string | false {
  const { value, ifVersion, ttlMs } = write
  checkTtl(ttlMs)
  if (ifVersion !== undefined && (rows.get(key)?.version ?? null) !== ifVersion) return false
  rows.put(
    key,
    ttlMs === undefined
      ? { value, version: stamp.version }
      : { value, version: stamp.version, expiresAt: stamp.now + ttlMs },
  )
  return stamp.version
}

/** Implements `Storage.delete` on rows in memory. */
export function deleteRow(rows: Rows, key: string, options: { ifVersion?: string } = {}): boolean {
  const row = rows.get(key)
  if (!row || (options.ifVersion !== undefined && row.version !== options.ifVersion)) return false
  rows.remove(key)
  return true
}

/**
 * Implements `Storage.increment` on rows in memory. Throws `STORAGE_NOT_A_NUMBER` if the value isn't an integer, or an error of `checkTtl`; neither
 * changes anything.
 */
export function incrementRow(
  rows: Rows,
  key: string,
  add: { by: number; ttlMs?: number | undefined },
  stamp: Stamp,
): number {
  checkTtl(add.ttlMs)
  const row = rows.get(key)
  const sum = incrementSum(key, row, add.by)
  const expiresAt = row ? row.expiresAt : add.ttlMs === undefined ? undefined : stamp.now + add.ttlMs
  const next = { value: String(sum), version: stamp.version }
  rows.put(key, expiresAt === undefined ? next : { ...next, expiresAt })
  return sum
}

/** Returns a counter's value after an increment; a missing counter starts at 0. Throws `STORAGE_NOT_A_NUMBER`. */
export function incrementSum(key: string, row: Stored | undefined, by: number): number {
  const text = row?.value ?? '0'
  const previous = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  const sum = previous + by
  if (Number.isSafeInteger(previous) && Number.isSafeInteger(sum)) return sum
  throw createStorageError(
    'STORAGE_NOT_A_NUMBER',
    `"${key}" cannot be incremented because its value, the step, or the sum is not a safe integer.`,
  )
}

/** Returns a string that represents a value not written by any adapter. */
export function describeForeignRow(found: unknown): string {
  try {
    return `${JSON.stringify(found)}`
  } catch {
    return String(found) // a value with a cycle or a BigInt can't be written as JSON
  }
}
