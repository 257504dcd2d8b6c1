import { isObject, type JsonObject } from '../../lib/json.ts'
import { parseOpaque } from './exact-json.ts'

/** Holds arguments that are no JSON object where a format has room for nothing else. */
const RAW = '_raw'

/** The arguments of a call for a format that wants an object. None are `{}`; what is no object is kept whole under `_raw`. */
export function argumentsOf(text: string): JsonObject {
  if (text.trim() === '') return {}
  const value = parseOpaque(text)
  return isObject(value) ? value : { [RAW]: text }
}

/** The reverse: the arguments that a format has as an object, as text. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value
  if (!isObject(value)) return value === undefined || value === null ? '{}' : JSON.stringify(value)
  const raw = value[RAW]
  return typeof raw === 'string' && Object.keys(value).length === 1 ? raw : JSON.stringify(value)
}
