import { formatScalar, isObject, type JsonObject } from '../../lib/json.ts'
import type { Change } from './canonical/canonical-warnings.ts'

/**
 * Converts a schema to one that Anthropic and Bedrock can enforce: closes objects, including those that allow any keys, and keeps only supported
 * keywords. Like Anthropic's own clients, moves other keywords into the description, where the model reads them.
 */
export function toStrictSchema(schema: JsonObject, onChange: (change: Change) => void): JsonObject {
  const strictSchema: JsonObject = {}
  const hints: string[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$schema' || keyword === 'additionalProperties' || keyword === 'description') continue
    const translatedKeyword = translateKeyword(keyword, value, onChange)
    if (translatedKeyword) Object.assign(strictSchema, translatedKeyword)
    else hints.push(`${keyword}: ${JSON.stringify(value)}`)
  }
  if ([schema.type].flat().includes('object') || isObject(schema.properties)) {
    if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) onChange('replaced')
    strictSchema.additionalProperties = false
  }
  if (hints.length > 0) onChange('moved')
  const paragraphs = [schema.description, hints.length > 0 && `{${hints.join(', ')}}`].filter(Boolean)
  if (paragraphs.length > 0) strictSchema.description = paragraphs.join('\n\n')
  return strictSchema
}

function translateKeyword(keyword: string, value: unknown, onChange: (change: Change) => void): JsonObject | undefined {
  const convert = (schema: unknown) => (isObject(schema) ? toStrictSchema(schema, onChange) : schema)
  if (SCHEMA_MAP_KEYWORDS.has(keyword) && isObject(value))
    return { [keyword]: Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, convert(schema)])) }
  if (SCHEMA_LIST_KEYWORDS.has(keyword) && Array.isArray(value))
    return { [keyword === 'oneOf' ? 'anyOf' : keyword]: value.map(convert) }
  if (keyword === 'items') return { items: convert(value) }
  if (keyword === 'minItems' && (value === 0 || value === 1)) return { minItems: value }
  if (keyword === 'format' && SUPPORTED_FORMATS.has(formatScalar(value))) return { format: value }
  return UNCHANGED_KEYWORDS.has(keyword) ? { [keyword]: value } : undefined
}

const UNCHANGED_KEYWORDS: ReadonlySet<string> = new Set([
  'type',
  'title',
  'enum',
  'const',
  '$ref',
  'required',
  'default',
])
const SCHEMA_MAP_KEYWORDS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions'])
const SCHEMA_LIST_KEYWORDS: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'allOf'])
const SUPPORTED_FORMATS: ReadonlySet<string> = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email'],
  ...['hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])
