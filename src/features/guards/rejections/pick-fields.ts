import type { JsonObject } from '../../../lib/json.ts'

/** Returns the named fields that an object has. */
export const pickFields = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])))
