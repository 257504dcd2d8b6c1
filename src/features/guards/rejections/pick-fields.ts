import type { JsonObject } from '../../../lib/json.ts'

/** Returns the fields of an object that are present. */
export const pickFields = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (object[name] === undefined ? [] : [[name, object[name]]])))
