import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { isExactNumber } from '../../canonical/exact-json.ts'

/**
 * Converts a request's fields to camelCase, because Google accepts snake_case too. The client's own data stays unchanged: arguments, results,
 * schemas, and labels. Collects the client's spellings in `spelling`.
 */
export function toCamelCase(object: JsonObject, spelling = new Map<string, string>()): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => {
      const fieldName = toCamelName(name)
      if (fieldName !== name) spelling.set(fieldName, name)
      return [fieldName, OPAQUE_FIELDS.has(fieldName) ? value : convertNested(value, spelling)]
    }),
  )
}

function convertNested(value: unknown, spelling: Map<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => convertNested(item, spelling))
  return isObject(value) && !isExactNumber(value) ? toCamelCase(value, spelling) : value
}

/** Returns a field name as Google spells it. Keeps a leading underscore. */
export const toCamelName = (name: string): string =>
  name.includes('_') ? name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name

const OPAQUE_FIELDS: ReadonlySet<string> = new Set([
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
