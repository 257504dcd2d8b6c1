import { type Schema, type SchemaDraft, validate } from '@cfworker/json-schema'
import { isObject, type JsonObject } from './json.ts'

/**
 * Does a JSON value match a JSON Schema, as far as it can be checked in little time? `pattern`, `patternProperties`, `format` and `uniqueItems` are
 * not checked, as a client's schema could block the process with them. A schema that is invalid, or takes too many steps, counts as matched.
 */
export function matchesSchema(value: unknown, schema: JsonObject): boolean {
  let steps = 0
  const step = () => {
    if (++steps > MOST_STEPS) throw new RangeError('The schema takes too many steps.')
  }
  try {
    return validate(value, checkable(schema, step) as Schema, draftOf(schema)).valid // what is no schema throws
  } catch {
    return true
  }
}

/** A schema in a few lines can refer to itself so often that it takes years. */
const MOST_STEPS = 200_000

const UNCHECKED: ReadonlySet<string> = new Set(['pattern', 'patternProperties', 'format', 'uniqueItems'])
/** Keywords that hold schemas by names. */
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'])
/** Keywords that hold values. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples'])

/** A copy without what is not checked, whose `type` counts a step: it is read each time a value is checked against it. */
function checkable(schema: unknown, step: () => void): unknown {
  if (!isObject(schema)) return schema
  const within = (inner: unknown) => checkable(inner, step)
  const isOpen = schema.patternProperties !== undefined
  const kept = Object.entries(schema).flatMap(([name, value]) => {
    if (UNCHECKED.has(name) || (isOpen && /^(?:additional|unevaluated)Properties$/.test(name))) return []
    if (NAMED.has(name) && isObject(value))
      return [[name, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, within(inner)]))]]
    if (VALUES.has(name)) return [[name, value]]
    return [[name, Array.isArray(value) ? value.map(within) : within(value)]]
  })
  const { type } = schema
  return Object.defineProperty(Object.fromEntries(kept), 'type', {
    enumerable: true,
    get() {
      step()
      return type
    },
  })
}

const draftOf = ({ $schema }: JsonObject): SchemaDraft => {
  const named = /draft-0?([47])\b|2019-09/.exec(String($schema))
  if (named?.[1] === '4' || named?.[1] === '7') return named[1]
  return named ? '2019-09' : '2020-12'
}
