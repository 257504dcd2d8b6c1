import { type Schema, type SchemaDraft, validate } from '@cfworker/json-schema'
import { formatScalar, isObject, type JsonObject } from './json.ts'
import { NAMED_SCHEMAS, UNCHECKED_KEYWORDS, VALUE_KEYWORDS } from './schema-keywords.ts'

/**
 * Returns whether a JSON value matches a JSON Schema. Ignores `pattern`, `patternProperties`, `format`, and `uniqueItems`, because a client's schema
 * could block the process with these. `ifUnclear` is the result for a schema that is invalid or takes too many steps.
 */
export function matchesSchema(value: unknown, schema: JsonObject, { ifUnclear = true } = {}): boolean {
  let stepCount = 0
  const countStep = () => {
    if (++stepCount > MAX_STEPS) throw new RangeError('The schema takes too many steps.')
  }
  try {
    return validate(value, prepareSchema(schema, countStep) as Schema, getDraft(schema)).valid // throws for an invalid schema
  } catch {
    return ifUnclear
  }
}

/** Maximum steps per check. A schema of a few lines can reference itself so often that a check would take years. */
const MAX_STEPS = 200_000

/** Copies a schema without ignored keywords. Reading a `type` in the copy counts as a step, because every check of a value reads it. */
function prepareSchema(schema: unknown, countStep: () => void): unknown {
  if (!isObject(schema)) return schema
  const prepareSubschema = (subschema: unknown) => prepareSchema(subschema, countStep)
  const hasPatternProperties = schema.patternProperties !== undefined
  const supportedKeywords = Object.entries(schema).flatMap(([name, value]) => {
    if (UNCHECKED_KEYWORDS.has(name) || (hasPatternProperties && /^(?:additional|unevaluated)Properties$/.test(name)))
      return []
    if (NAMED_SCHEMAS.has(name) && isObject(value))
      return [[name, Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, prepareSubschema(inner)]))]]
    if (VALUE_KEYWORDS.has(name)) return [[name, value]]
    return [[name, Array.isArray(value) ? value.map(prepareSubschema) : prepareSubschema(value)]]
  })
  const { type } = schema
  return Object.defineProperty(Object.fromEntries(supportedKeywords), 'type', {
    enumerable: true,
    get() {
      countStep()
      return type
    },
  })
}

const getDraft = ({ $schema }: JsonObject): SchemaDraft => {
  const draftMatch = /draft-0?([47])\b|2019-09/.exec(formatScalar($schema))
  if (draftMatch?.[1] === '4' || draftMatch?.[1] === '7') return draftMatch[1]
  return draftMatch ? '2019-09' : '2020-12'
}
