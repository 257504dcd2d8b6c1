import { formatScalar, isObject, type JsonObject } from '../../../lib/json.ts'

/** Resolves a reference such as `#` or `#/$defs/name` (a JSON pointer) within `root`. Returns `undefined` if it has no target. */
export function resolveReference(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref === '#') return root
  if (!ref.startsWith('#/')) return undefined
  let node: unknown = root
  for (const segment of ref.slice(2).split('/')) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~')
    node = isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined
  }
  return isObject(node) ? node : undefined
}

interface FlatSchema {
  schema: JsonObject
  /** Set if the schema accepts more than the original, because mutually exclusive alternatives have been merged into one object. */
  isBroader: boolean
}

/** Limits on resolving schemas, which may be recursive. */
const MAX_DEPTH = 20
const MAX_SHAPES = 1_000

/**
 * Rewrites an object schema so its root has no `$ref`, `allOf`, `anyOf`, `oneOf`, `enum`, or `not`. OpenAI and Anthropic reject those, but MCP
 * servers' tools use them. Returns `undefined` if the root has none of them or doesn't describe an object.
 */
export function flattenSchema(schema: JsonObject): FlatSchema | undefined {
  if (!COMBINING_KEYWORDS.some((keyword) => schema[keyword] !== undefined)) return undefined
  const objectSchema = readObjectSchema(schema, { root: schema, visitedCount: 0 }, MAX_DEPTH)
  if (!objectSchema) return undefined
  const { annotations, properties, required, isClosed, isBroader } = objectSchema
  const flatSchema: JsonObject = { ...annotations, type: 'object', properties }
  if (required.length > 0) flatSchema.required = required
  if (isClosed) flatSchema.additionalProperties ??= false
  return { schema: flatSchema, isBroader }
}

const COMBINING_KEYWORDS = ['$ref', 'allOf', 'anyOf', 'oneOf', 'enum', 'not'] as const

interface ObjectSchema {
  annotations: JsonObject
  properties: JsonObject
  required: string[]
  isClosed: boolean
  isBroader: boolean
}

interface SchemaSearch {
  root: JsonObject
  visitedCount: number
}

/** Reads a schema as an object schema. Returns `undefined` if it describes something else or is circular. */
function readObjectSchema(original: JsonObject, search: SchemaSearch, depth: number): ObjectSchema | undefined {
  const schema = followReferences(original, search.root)
  if (!schema || depth === 0 || ++search.visitedCount > MAX_SHAPES) return undefined
  const {
    $ref,
    allOf,
    anyOf: alternatives,
    oneOf,
    enum: values,
    not,
    type,
    properties,
    required,
    ...annotations
  } = schema
  if (type !== undefined && type !== 'object' && !(Array.isArray(type) && type.includes('object'))) return undefined
  const readAll = (list: unknown) =>
    (Array.isArray(list) ? list : []).flatMap(
      (schema) => (isObject(schema) && readObjectSchema(schema, search, depth - 1)) || [],
    )
  const objectSchema: ObjectSchema = {
    annotations,
    properties: isObject(properties) ? properties : {},
    required: Array.isArray(required) ? required.map(String) : [],
    isClosed: annotations.additionalProperties === false,
    isBroader: values !== undefined || not !== undefined,
  }
  const combinedSchemas = [...readAll(allOf), ...mergeShapes(readAll(alternatives)), ...mergeShapes(readAll(oneOf))]
  const isUnconstrained = type === undefined && !isObject(properties) && objectSchema.required.length === 0
  if (isUnconstrained && combinedSchemas.length === 0) return undefined
  return combinedSchemas.reduce(intersect, objectSchema)
}

/** Resolves a schema's references, keeping the keywords next to each reference. */
function followReferences(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  let resolved = schema
  for (let depth = 0; typeof resolved.$ref === 'string'; depth++) {
    const { $ref, ...siblings } = resolved
    const target = depth < MAX_DEPTH ? resolveReference(root, $ref) : undefined
    if (!target) return undefined
    resolved = { ...target, ...siblings }
  }
  return resolved
}

/** Combines two schemas that the same object must satisfy. */
function intersect(a: ObjectSchema, b: ObjectSchema): ObjectSchema {
  const properties = new Map(Object.entries(a.properties))
  for (const [name, schema] of Object.entries(b.properties))
    properties.set(name, properties.has(name) ? intersectProperties(properties.get(name), schema) : schema)
  return {
    annotations: a.annotations,
    properties: Object.fromEntries(properties),
    required: [...new Set([...a.required, ...b.required])],
    isClosed: a.isClosed || b.isClosed,
    isBroader: a.isBroader || b.isBroader,
  }
}

/** Combines alternative schemas into one that accepts all of them. */
function mergeShapes(shapes: readonly ObjectSchema[]): ObjectSchema[] {
  const [first, ...others] = shapes
  if (!first || others.length === 0) return [...shapes]
  const schemas = new Map<string, unknown[]>()
  for (const { properties } of shapes)
    for (const [name, schema] of Object.entries(properties)) schemas.set(name, [...(schemas.get(name) ?? []), schema])
  return [
    {
      annotations: {},
      properties: Object.fromEntries(
        [...schemas].map(([name, propertySchemas]) => [name, mergeAlternatives(propertySchemas)]),
      ),
      required: first.required.filter((name) => others.every(({ required }) => required.includes(name))),
      isClosed: shapes.every(({ isClosed }) => isClosed),
      isBroader: true,
    },
  ]
}

const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

function intersectProperties(a: unknown, b: unknown): unknown {
  if (!isObject(a) || !isObject(b)) return a === true ? b : a
  const isCompatible = Object.keys(b).every((keyword) => !(keyword in a) || isSameJson(a[keyword], b[keyword]))
  return isCompatible ? { ...a, ...b } : { allOf: [a, b] }
}

/** Creates a schema for values that satisfy any of the schemas. Constants, which distinguish the alternatives, become an `enum`. */
function mergeAlternatives(schemas: readonly unknown[]): unknown {
  const uniqueSchemas = schemas.filter(
    (schema, index) => schemas.findIndex((other) => isSameJson(schema, other)) === index,
  )
  const [firstSchema] = uniqueSchemas
  if (uniqueSchemas.length === 1) return firstSchema
  const values = uniqueSchemas.map((schema) =>
    isObject(schema) ? (Array.isArray(schema.enum) ? schema.enum : schema.const) : undefined,
  )
  if (!isObject(firstSchema) || values.includes(undefined)) return { anyOf: uniqueSchemas }
  const { const: _, enum: __, ...rest } = firstSchema
  return { ...rest, enum: [...new Set(values.flat())] }
}

/**
 * Returns whether OpenAI's strict mode can enforce this schema unchanged. OpenAI rejects any other schema. In strict mode, objects must be closed and
 * all properties required, and only some keywords are allowed.
 */
export function isEnforceableSchema(schema: unknown): boolean {
  if (!isObject(schema) || !Object.keys(schema).every((keyword) => ENFORCED_KEYWORDS.has(keyword))) return false
  const { properties, required, items, anyOf: alternatives, additionalProperties, format, pattern } = schema
  if (!TYPE_KEYWORDS.some((keyword) => schema[keyword] !== undefined)) return false // a schema without these keywords allows any value
  if (typeof pattern === 'string' && LOOKAROUND_PATTERN.test(pattern)) return false
  const isObjectSchema = isObject(properties) || [schema.type].flat().includes('object')
  const isClosed =
    additionalProperties === false &&
    isObject(properties) &&
    Object.keys(properties).every((name) => Array.isArray(required) && required.includes(name))
  const subschemas = [properties, schema.$defs, schema.definitions].flatMap((members) =>
    isObject(members) ? Object.values(members) : [],
  )
  return (
    (!isObjectSchema || isClosed) &&
    (format === undefined || ENFORCED_FORMATS.has(formatScalar(format))) &&
    [
      ...subschemas,
      ...(Array.isArray(alternatives) ? alternatives : []),
      ...(items === undefined ? [] : [items]),
    ].every(isEnforceableSchema)
  )
}

const TYPE_KEYWORDS = ['type', 'enum', 'const', 'anyOf', '$ref']

const LOOKAROUND_PATTERN = /\(\?<?[=!]/

const ENFORCED_KEYWORDS: ReadonlySet<string> = new Set([
  ...['$schema', '$defs', 'definitions', '$ref', 'title', 'description', 'type', 'enum', 'const', 'anyOf'],
  ...['properties', 'required', 'additionalProperties', 'items', 'minItems', 'maxItems', 'pattern', 'format'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
])

const ENFORCED_FORMATS: ReadonlySet<string> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'],
])
