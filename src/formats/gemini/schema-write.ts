import { isObject, type JsonObject } from '../../lib/json.ts'
import { createResolver, type Resolver } from './schema-refs.ts'
import { writeEnum, writeLimits } from './schema-values.ts'

/** Told of each keyword that is lost, by its path within the schema: `properties.a.uniqueItems`. */
export type OnLoss = (path: string) => void

/**
 * JSON Schema as Google's older `Schema`, which refuses the whole request for one keyword that it does not know. What it cannot say is said
 * more loosely, so that whatever the schema allows is still allowed.
 */
export function openApiSchema(schema: JsonObject, onLoss: OnLoss): JsonObject {
  const resolver = createResolver(schema)
  const write = (inner: unknown, path: string): JsonObject => writeSchema(inner, { path, resolver, onLoss, write })
  return write(schema, '')
}

interface Place {
  path: string
  resolver: Resolver
  onLoss: OnLoss
  write(schema: unknown, path: string): JsonObject
}

function writeSchema(given: unknown, place: Place): JsonObject {
  const lose = (keyword: string) => place.onLoss(join(place.path, keyword))
  if (!isObject(given)) return {} // `true`: anything
  const resolved = place.resolver.enter(given, lose)
  if (!resolved) {
    lose('$ref')
    return { type: 'OBJECT' }
  }
  const { schema } = resolved
  const written = {
    ...plain(schema),
    ...writeType(schema, place, lose),
    ...writeEnum(schema, lose),
    ...writeLimits(schema, lose),
    ...writeMembers(schema, place, lose),
  }
  for (const keyword in schema) if (!KNOWN.has(keyword) && !isHarmless(keyword, schema[keyword])) lose(keyword)
  place.resolver.leave(resolved)
  return written
}

/** What both say alike. */
function plain(schema: JsonObject): JsonObject {
  const written: JsonObject = {}
  for (const keyword of PLAIN) if (schema[keyword] !== undefined) written[keyword] = schema[keyword]
  const [example] = Array.isArray(schema.examples) ? schema.examples : []
  return example === undefined ? written : { ...written, example }
}

/** The type, whether it may be null, and alternatives. */
function writeType(schema: JsonObject, { path, write }: Place, lose: (keyword: string) => void): JsonObject {
  const said = [schema.type].flat().filter((type) => typeof type === 'string')
  const types = said.filter((type) => type !== 'null').map((type) => type.toUpperCase())
  const listed = schema.anyOf ?? schema.oneOf
  const alternatives: unknown[] = Array.isArray(listed) ? listed : []
  const others = alternatives.filter((other) => !(isObject(other) && other.type === 'null'))
  const isNullable =
    schema.nullable === true || said.length > types.length || others.length < alternatives.length || hasNull(schema)
  const nullable = isNullable ? { nullable: true } : {}
  const [only] = others
  if (others.length === 1) return { ...write(only, path), ...nullable }
  if (others.length > 1) {
    if (schema.anyOf && schema.oneOf) lose('oneOf')
    return { anyOf: others.map((other, index) => write(other, join(path, `anyOf[${index}]`))), ...nullable }
  }
  const [type = usualType(schema)] = types
  if (types.length < 2) return type === undefined ? nullable : { type, ...nullable }
  return { anyOf: types.map((each) => ({ type: each })), ...nullable }
}

const hasNull = (schema: JsonObject) => Array.isArray(schema.enum) && schema.enum.includes(null)

function usualType(schema: JsonObject): string | undefined {
  if (isObject(schema.properties)) return 'OBJECT'
  return schema.items === undefined ? undefined : 'ARRAY'
}

/** Properties of an object and elements of an array. */
function writeMembers(schema: JsonObject, { path, write }: Place, lose: (keyword: string) => void): JsonObject {
  const written: JsonObject = {}
  const { properties, required, items, prefixItems } = schema
  const names = isObject(properties) ? Object.keys(properties) : []
  if (isObject(properties) && names.length > 0) {
    written.properties = Object.fromEntries(
      names.map((name) => [name, write(properties[name], join(path, `properties.${name}`))]),
    )
    const known = Array.isArray(required) ? required.filter((name) => names.includes(name)) : []
    if (known.length > 0) written.required = known
  }
  const tuple: unknown = Array.isArray(items) ? items : prefixItems
  if (Array.isArray(tuple)) {
    lose('prefixItems') // any of them may stand anywhere
    written.items = write(tuple.length === 1 ? tuple[0] : { anyOf: tuple }, join(path, 'items'))
  } else if (items !== undefined) written.items = write(items, join(path, 'items'))
  else if ([schema.type].flat().includes('array')) written.items = {}
  return written
}

const join = (path: string, keyword: string) => (path === '' ? keyword : `${path}.${keyword}`)

const PLAIN = ['title', 'description', 'default', 'pattern'] as const

const KNOWN: ReadonlySet<string> = new Set([
  ...PLAIN,
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

/** Says nothing about values, or nothing that a model would do otherwise. */
const isHarmless = (keyword: string, value: unknown) =>
  NOTES.has(keyword) || (keyword === 'additionalProperties' && value === false)

const NOTES: ReadonlySet<string> = new Set(['$schema', '$id', '$comment', '$defs', 'definitions', '$ref', 'strict'])
