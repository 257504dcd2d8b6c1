import { isObject, type JsonObject } from '../../../lib/json.ts'
import { isExactNumber } from '../../canonical/exact-json.ts'

/**
 * Converts all fields of a request to camelCase, since Google accepts them in snake_case too. The client's own data stays unchanged:
 * arguments, results, schemas, labels. Collects in `spelling` the names that the client has used instead.
 */
export function camelCased(object: JsonObject, spelling = new Map<string, string>()): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const field = camel(name)
      if (field !== name) spelling.set(field, name)
      return [field, OPAQUE.has(field) ? value : within(value, spelling)]
    }),
  )
}

function within(value: unknown, spelling: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => within(item, spelling))
  return isObject(value) && !isExactNumber(value) ? camelCased(value, spelling) : value
}

/** The name of a field as Google writes it; a leading underscore is part of it. */
export const camel = (name: string): string =>
  name.includes('_') ? name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name

const OPAQUE: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'schema',
  'responseSchema',
  'responseJsonSchema',
  '_responseJsonSchema',
  'labels',
  'partMetadata',
])
