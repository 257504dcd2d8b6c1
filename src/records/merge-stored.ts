import type { JsonObject } from '../lib/json.ts'

/** Applies the differences between two readings to a stored record, so unreadable fields survive writes to other fields. */
export function mergeStored<T extends object>(stored: JsonObject, before: T, after: T): T {
  const merged: JsonObject = { ...stored }
  for (const [name, value] of Object.entries(after))
    if (JSON.stringify(value) !== JSON.stringify(Reflect.get(before, name))) merged[name] = value
  for (const name of Object.keys(before)) if (Reflect.get(after, name) === undefined) delete merged[name]
  return merged as T // a reading of this record is a `T`
}
