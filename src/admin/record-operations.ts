import { gatewayError } from '../errors.ts'
import { randomBytes, toHex } from '../lib/bytes.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import type { Records } from '../records/records.ts'
import type { StoredEntry } from '../records/stored-records.ts'
import type { OutputOf, RecordField, RecordFields } from '../types/records/record-fields.ts'
import type { Clock } from '../types.ts'

/** Returns the first record for which `predicate` returns true. Rereads the storage before it throws `NOT_FOUND`: `<noun> not found`. */
export async function findRecord<T>(
  records: Records<T>,
  noun: string,
  predicate: (record: T) => boolean,
): Promise<StoredEntry<T>> {
  const matches = (entry: StoredEntry<T>) => predicate(entry.record)
  const foundEntry = (await records.entries()).find(matches) ?? (await records.entries({ fresh: true })).find(matches)
  return requirePresent(foundEntry, noun)
}

/** Returns the record. Throws `NOT_FOUND`, `<noun> not found`, if there is none. */
export function requirePresent<T>(record: T | undefined, noun: string): T {
  if (record === undefined) throw gatewayError('NOT_FOUND', { message: `${noun} not found` })
  return record
}

/** Copies a record's public fields, in the order in which they are defined. */
export function pickOutputFields<F extends RecordFields, R extends object>(
  recordFields: F,
  record: R,
): OutputFields<F, R> {
  const visibleFields: JsonObject = {}
  for (const [name, { isShown }] of Object.entries<RecordField>(recordFields)) {
    const value: unknown = Reflect.get(record, name)
    if (isShown === false || value === undefined) continue
    visibleFields[name] = typeof value === 'object' ? structuredClone(value) : value
  }
  return visibleFields as OutputFields<F, R> // it contains only the shown fields of `F`
}

type OutputFields<F, R> = Pick<OutputOf<F>, keyof OutputOf<F> & keyof R>

/** Returns the changed record; `null` removes a field. */
export function withChange<T extends object, C extends object>(record: T, change: C): WithoutNulls<T & C> {
  const fields = Object.entries({ ...record, ...change }).filter(([, value]) => value !== null)
  return Object.fromEntries(fields) as WithoutNulls<T & C> // nulls were removed
}

type WithoutNulls<T> = { [Member in keyof T]: Exclude<T[Member], null> }

/** Returns whether two JSON values are equal, regardless of field order. Fields that are `undefined` are treated as absent. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]))
  if (!isObject(a) || !isObject(b)) return a === b
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) => isSameJson(a[name], b[name]))
}

/** Creates a random ID for a call that sets whether a record is active. It lets cloud sync notice the call, even if nothing changed. */
export const createEditId = (): string => toHex(randomBytes(8))

/** Returns the current time in ISO 8601. */
export const getTimestamp = (clock: Clock): string => new Date(clock.now()).toISOString()

/** Returns the current time, or 1 ms after an earlier timestamp, because other instances notice changes by later timestamps. */
export const getTimestampAfter = (earlier: string, clock: Clock): string =>
  new Date(Math.max(clock.now(), (Date.parse(earlier) || 0) + 1)).toISOString()
