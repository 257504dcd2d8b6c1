import type { JsonObject } from '../../lib/json.ts'

type Lose = (keyword: string) => void

/** `enum` and `const`: Google lists texts only, so that numbers are listed as texts. */
export function writeEnum(schema: JsonObject, lose: Lose): JsonObject {
  const listed: unknown[] = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : []
  const values = listed.filter((value) => value !== null)
  if (values.length === 0) return {}
  if (!values.every((value) => typeof value === 'string')) {
    lose(schema.enum === undefined ? 'const' : 'enum')
    if (!values.every((value) => typeof value === 'string' || typeof value === 'number')) return {}
  }
  return { type: 'STRING', format: 'enum', enum: values.map(String) }
}

/** Limits of numbers, texts and lists, and formats. */
export function writeLimits(schema: JsonObject, lose: Lose): JsonObject {
  if (schema.enum !== undefined || schema.const !== undefined) return {}
  const written: JsonObject = {}
  for (const keyword of LIMITS) if (typeof schema[keyword] === 'number') written[keyword] = schema[keyword]
  const isInteger = [schema.type].flat().includes('integer')
  const least = exclusive(schema, 'exclusiveMinimum', { limit: 'minimum', step: 1, isInteger })
  const most = exclusive(schema, 'exclusiveMaximum', { limit: 'maximum', step: -1, isInteger })
  if (least) written.minimum = Math.max(least.value, Number(written.minimum ?? least.value))
  if (most) written.maximum = Math.min(most.value, Number(written.maximum ?? most.value))
  if (least && !isInteger) lose('exclusiveMinimum')
  if (most && !isInteger) lose('exclusiveMaximum')
  if (typeof schema.format === 'string') {
    if (FORMATS.has(schema.format)) written.format = schema.format
    else lose('format')
  }
  return written
}

/** An exclusive limit as an inclusive one: the next integer, or for other numbers the limit itself. */
function exclusive(
  schema: JsonObject,
  keyword: string,
  { limit, step, isInteger }: { limit: string; step: number; isInteger: boolean },
): { value: number } | undefined {
  const said = schema[keyword] === true ? schema[limit] : schema[keyword] // `true` is OpenAPI's older way
  return typeof said === 'number' ? { value: isInteger ? said + step : said } : undefined
}

const LIMITS = [
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const

const FORMATS: ReadonlySet<string> = new Set(['date-time', 'int32', 'int64', 'float', 'double'])
