import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { toCamelName } from './gemini-client-spelling.ts'

/**
 * Converts Google's older `Schema`, a variant of OpenAPI, to JSON Schema. Leaves JSON Schema unchanged, because clients put both in the same field.
 */
export function toJsonSchema(schema: JsonObject): JsonObject {
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) => convertKeyword(toCamelName(name), value)),
  )
  return nullable === true ? allowNull(rest) : rest
}

function convertKeyword(name: string, value: unknown): [name: string, value: unknown][] {
  switch (name) {
    case 'type':
      return convertType(value)
    case 'format':
      return value === 'enum' ? [] : [[name, value]]
    case 'propertyOrdering':
      return []
    case 'example':
      return [['examples', [value]]]
    case 'properties':
    case '$defs':
      if (!isObject(value)) return [[name, value]]
      return [[name, Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, convertNested(schema)]))]]
    case 'items':
    case 'additionalProperties':
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return [[name, convertNested(value)]]
    default:
      return [[name, COUNT_KEYWORDS.has(name) && typeof value === 'string' ? Number(value) : value]]
  }
}

function convertNested(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(convertNested)
  return isObject(value) ? toJsonSchema(value) : value
}

/** Converts the type, which is uppercase or the number of the enum value. */
function convertType(value: unknown): [string, unknown][] {
  const name = typeof value === 'number' ? SCHEMA_TYPES[value] : value
  if (typeof name !== 'string') return name === undefined ? [] : [['type', name]]
  return name === 'TYPE_UNSPECIFIED' ? [] : [['type', name.toLowerCase()]]
}

const SCHEMA_TYPES = ['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']

/** Keywords for 64-bit integers, which are strings in Google's JSON. */
const COUNT_KEYWORDS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

function allowNull(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  if (typeof type !== 'string') return schema
  return { ...schema, type: [type, 'null'], ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) }
}
