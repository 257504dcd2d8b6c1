import { formatScalar, isObject, type JsonObject } from '../../../../lib/json.ts'
import { resolveReference } from '../../canonical/canonical-schema.ts'

/** Called for each dropped keyword with its path in the schema: `properties.a.uniqueItems`. */
type OnDropped = (path: string) => void

/**
 * Converts JSON Schema to Google's older `Schema`, where an unknown keyword makes Google reject the entire request. Drops constraints that it can't
 * express, so all values that the original schema allows are still allowed.
 */
export function toOpenApiSchema(schema: JsonObject, onDropped: OnDropped): JsonObject {
  const resolver = createResolver(schema)
  const write = (subschema: unknown, path: string): JsonObject =>
    writeSchema(subschema, { path, resolver, onDropped, write })
  return write(schema, '')
}

interface SchemaContext {
  path: string
  resolver: Resolver
  onDropped: OnDropped
  write(schema: unknown, path: string): JsonObject
}

function writeSchema(original: unknown, context: SchemaContext): JsonObject {
  const recordDrop = (keyword: string) => context.onDropped(joinPath(context.path, keyword))
  if (!isObject(original)) return {} // the schema `true` allows any value
  const resolved = context.resolver.enter(original, recordDrop)
  if (!resolved) {
    recordDrop('$ref')
    return { type: 'OBJECT' }
  }
  const { schema } = resolved
  const result = {
    ...copyCommonKeywords(schema),
    ...writeType(schema, context, recordDrop),
    ...writeEnum(schema, recordDrop),
    ...writeLimits(schema, recordDrop),
    ...writeMembers(schema, context, recordDrop),
  }
  for (const keyword in schema)
    if (!KNOWN_KEYWORDS.has(keyword) && !isIgnorable(keyword, schema[keyword])) recordDrop(keyword)
  context.resolver.leave(resolved)
  return result
}

function copyCommonKeywords(schema: JsonObject): JsonObject {
  const result: JsonObject = {}
  for (const keyword of COMMON_KEYWORDS) if (schema[keyword] !== undefined) result[keyword] = schema[keyword]
  const [example] = Array.isArray(schema.examples) ? schema.examples : []
  return example === undefined ? result : { ...result, example }
}

/** Writes the type, whether the value may be null, and alternatives. */
function writeType(
  schema: JsonObject,
  { path, write }: SchemaContext,
  recordDrop: (keyword: string) => void,
): JsonObject {
  const declaredTypes = [schema.type].flat().filter((type) => typeof type === 'string')
  const types = declaredTypes.filter((type) => type !== 'null').map((type) => type.toUpperCase())
  const listedAlternatives = schema.anyOf ?? schema.oneOf
  const alternatives: unknown[] = Array.isArray(listedAlternatives) ? listedAlternatives : []
  const nonNullAlternatives = alternatives.filter((other) => !(isObject(other) && other.type === 'null'))
  const hasNull = Array.isArray(schema.enum) && schema.enum.includes(null)
  const isNullable =
    schema.nullable === true ||
    declaredTypes.length > types.length ||
    nonNullAlternatives.length < alternatives.length ||
    hasNull
  const nullable = isNullable ? { nullable: true } : {}
  const [firstAlternative] = nonNullAlternatives
  if (nonNullAlternatives.length === 1) return { ...write(firstAlternative, path), ...nullable }
  if (nonNullAlternatives.length > 1) {
    if (schema.anyOf && schema.oneOf) recordDrop('oneOf')
    return {
      anyOf: nonNullAlternatives.map((other, index) => write(other, joinPath(path, `anyOf[${index}]`))),
      ...nullable,
    }
  }
  const [type = guessType(schema)] = types
  if (types.length < 2) return type === undefined ? nullable : { type, ...nullable }
  return { anyOf: types.map((typeName) => ({ type: typeName })), ...nullable }
}

function guessType(schema: JsonObject): string | undefined {
  if (isObject(schema.properties)) return 'OBJECT'
  return schema.items === undefined ? undefined : 'ARRAY'
}

/** Writes an object's properties and an array's elements. */
function writeMembers(
  schema: JsonObject,
  { path, write }: SchemaContext,
  recordDrop: (keyword: string) => void,
): JsonObject {
  const result: JsonObject = {}
  const { properties, required, items, prefixItems } = schema
  const names = isObject(properties) ? Object.keys(properties) : []
  if (isObject(properties) && names.length > 0) {
    result.properties = Object.fromEntries(
      names.map((name) => [name, write(properties[name], joinPath(path, `properties.${name}`))]),
    )
    const requiredNames = Array.isArray(required) ? required.filter((name) => names.includes(name)) : []
    if (requiredNames.length > 0) result.required = requiredNames
  }
  const tuple: unknown = Array.isArray(items) ? items : prefixItems
  if (Array.isArray(tuple)) {
    recordDrop('prefixItems') // the target allows any of the items at any index
    result.items = write(tuple.length === 1 ? tuple[0] : { anyOf: tuple }, joinPath(path, 'items'))
  } else if (items !== undefined) result.items = write(items, joinPath(path, 'items'))
  else if ([schema.type].flat().includes('array')) result.items = {}
  return result
}

const joinPath = (path: string, keyword: string) => (path === '' ? keyword : `${path}.${keyword}`)

const COMMON_KEYWORDS = ['title', 'description', 'default', 'pattern'] as const

const KNOWN_KEYWORDS: ReadonlySet<string> = new Set([
  ...COMMON_KEYWORDS,
  ...[
    'type',
    'nullable',
    'anyOf',
    'oneOf',
    'enum',
    'const',
    'properties',
    'required',
    'items',
    'prefixItems',
    'examples',
  ],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength', 'format'],
  ...['minItems', 'maxItems', 'minProperties', 'maxProperties'],
])

/** Returns whether the keyword doesn't restrict values, or has its default value. */
const isIgnorable = (keyword: string, value: unknown) =>
  IGNORED_KEYWORDS.has(keyword) || (keyword === 'additionalProperties' && value === false)

const IGNORED_KEYWORDS: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  '$comment',
  '$defs',
  'definitions',
  '$ref',
  'strict',
])

type RecordDrop = (keyword: string) => void

/** Writes `enum` and `const`. Google's `enum` only supports strings, so numbers become strings. */
function writeEnum(schema: JsonObject, recordDrop: RecordDrop): JsonObject {
  const listedValues: unknown[] = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : []
  const values = listedValues.filter((value) => value !== null)
  if (values.length === 0) return {}
  if (!values.every((value) => typeof value === 'string')) {
    recordDrop(schema.enum === undefined ? 'const' : 'enum')
    if (!values.every((value) => typeof value === 'string' || typeof value === 'number')) return {}
  }
  return { type: 'STRING', format: 'enum', enum: values.map(String) }
}

/** Writes formats and limits for numbers, strings, and arrays. */
function writeLimits(schema: JsonObject, recordDrop: RecordDrop): JsonObject {
  if (schema.enum !== undefined || schema.const !== undefined) return {}
  const result: JsonObject = {}
  for (const keyword of LIMIT_KEYWORDS) if (typeof schema[keyword] === 'number') result[keyword] = schema[keyword]
  const isInteger = [schema.type].flat().includes('integer')
  const minimum = readExclusiveLimit(schema, 'exclusiveMinimum', { limit: 'minimum', step: 1, isInteger })
  const maximum = readExclusiveLimit(schema, 'exclusiveMaximum', { limit: 'maximum', step: -1, isInteger })
  if (minimum) result.minimum = Math.max(minimum.value, Number(formatScalar(result.minimum ?? minimum.value)))
  if (maximum) result.maximum = Math.min(maximum.value, Number(formatScalar(result.maximum ?? maximum.value)))
  if (minimum && !isInteger) recordDrop('exclusiveMinimum')
  if (maximum && !isInteger) recordDrop('exclusiveMaximum')
  if (typeof schema.format === 'string') {
    if (SUPPORTED_FORMATS.has(schema.format)) result.format = schema.format
    else recordDrop('format')
  }
  return result
}

/** Converts an exclusive limit to an inclusive one: the next integer, or the limit itself. */
function readExclusiveLimit(
  schema: JsonObject,
  keyword: string,
  { limit, step, isInteger }: { limit: string; step: number; isInteger: boolean },
): { value: number } | undefined {
  const value = schema[keyword] === true ? schema[limit] : schema[keyword] // `true` has the meaning from older OpenAPI versions
  return typeof value === 'number' ? { value: isInteger ? value + step : value } : undefined
}

const LIMIT_KEYWORDS = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const

const SUPPORTED_FORMATS: ReadonlySet<string> = new Set(['date-time', 'int32', 'int64', 'float', 'double'])

/** A schema without references and `allOf`, and the list of references that were followed. */
interface ResolvedSchema {
  schema: JsonObject
  refs: readonly string[]
}

/** Replaces references and `allOf` with their content, because Google's older `Schema` supports neither. */
interface Resolver {
  /** Returns `undefined` if the schema is circular or grows too large. Calls `recordDrop` if two constraints contradict each other. */
  enter(schema: JsonObject, recordDrop: (keyword: string) => void): ResolvedSchema | undefined
  /** Call this once the schema is written, so that its references may be followed again. */
  leave(resolved: ResolvedSchema): void
}

function createResolver(root: JsonObject): Resolver {
  const enteredRefs = new Set<string>()
  let visitedCount = 0

  return {
    enter(original, recordDrop) {
      const refs: string[] = []
      let schema = mergeAllOf(original, recordDrop)
      if (++visitedCount > MAX_VISITED_SCHEMAS) return undefined
      while (typeof schema.$ref === 'string') {
        const { $ref, ...siblings } = schema
        const target = enteredRefs.has($ref) ? undefined : resolveReference(root, $ref)
        if (!target) {
          for (const ref of refs) enteredRefs.delete(ref)
          return undefined
        }
        enteredRefs.add($ref)
        refs.push($ref)
        schema = mergeAllOf({ ...target, ...siblings }, recordDrop)
      }
      return { schema, refs }
    },
    leave({ refs }) {
      for (const ref of refs) enteredRefs.delete(ref)
    },
  }
}

/** Merges the constraints in `allOf` into one schema. If two have different values for a keyword, the first one counts. */
function mergeAllOf(schema: JsonObject, recordDrop: (keyword: string) => void): JsonObject {
  const { allOf, ...mergedSchema } = schema
  if (!Array.isArray(allOf)) return schema
  for (const subschema of allOf) {
    if (!isObject(subschema)) continue
    for (const keyword in subschema) {
      const previousValue = mergedSchema[keyword]
      const nextValue = subschema[keyword]
      if (previousValue === undefined) mergedSchema[keyword] = nextValue
      else if (isObject(previousValue) && isObject(nextValue))
        mergedSchema[keyword] = { ...nextValue, ...previousValue }
      else if (keyword === 'required' && Array.isArray(previousValue) && Array.isArray(nextValue))
        mergedSchema.required = [...new Set([...previousValue, ...nextValue])]
      else if (previousValue !== nextValue) recordDrop('allOf')
    }
  }
  return mergedSchema
}

/** The maximum number of nodes in a schema. Definitions that use each other twice would double the schema with every level. */
const MAX_VISITED_SCHEMAS = 5_000
