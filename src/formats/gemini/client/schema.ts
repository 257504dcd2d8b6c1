import { isObject, type JsonObject } from '../../../lib/json.ts'
import { camel } from './spelling.ts'

/**
 * Converts Google's older `Schema`, a subset of OpenAPI in its own spelling, to JSON Schema. JSON Schema stays unchanged, since clients put
 * both in the same field.
 */
export function jsonSchemaOf(schema: JsonObject): JsonObject {
  const { nullable, ...rest } = Object.fromEntries(
    Object.entries(schema).flatMap(([name, value]) => keyword(camel(name), value)),
  )
  return nullable === true ? orNull(rest) : rest
}

function keyword(name: string, value: unknown): [name: string, value: unknown][] {
  switch (name) {
    case 'type':
      return typeOf(value)
    case 'format':
      return value === 'enum' ? [] : [[name, value]]
    case 'propertyOrdering':
      return []
    case 'example':
      return [['examples', [value]]]
    case 'properties':
    case '$defs':
      return [[name, isObject(value) ? mapped(value) : value]]
    case 'items':
    case 'additionalProperties':
    case 'anyOf':
    case 'oneOf':
    case 'allOf':
    case 'prefixItems':
      return [[name, within(value)]]
    default:
      return [[name, COUNTS.has(name) && typeof value === 'string' ? Number(value) : value]]
  }
}

function within(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(within)
  return isObject(value) ? jsonSchemaOf(value) : value
}

const mapped = (properties: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, within(schema)]))

/** The type, which is written in capitals or as the number of the enum. */
function typeOf(value: unknown): [string, unknown][] {
  const name = typeof value === 'number' ? TYPES[value] : value
  if (typeof name !== 'string') return name === undefined ? [] : [['type', name]]
  return name === 'TYPE_UNSPECIFIED' ? [] : [['type', name.toLowerCase()]]
}

const TYPES = ['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL']

/** Limits that are integers of 64 bits, which are strings in Google's JSON. */
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])

function orNull(schema: JsonObject): JsonObject {
  const { type, anyOf } = schema
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, { type: 'null' }] }
  if (typeof type !== 'string') return schema
  return { ...schema, type: [type, 'null'], ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) }
}
