import { isObject, type JsonObject } from '../../lib/json.ts'
import { parseOpaque } from './exact-json.ts'

/** The member for arguments that are no JSON object, in formats that require one. */
const RAW = '_raw'

/** The arguments of a call as an object: `{}` for none, and `{ _raw }` for text that is no JSON object. */
export function argumentsOf(text: string): JsonObject {
  if (text.trim() === '') return {}
  const value = parseOpaque(text)
  return isObject(value) ? value : { [RAW]: text }
}

/** What some models write where there are no arguments. */
export const isNoArguments = (text: string): boolean => text === '{}' || text === 'null'

/** The arguments of a call as text, from an object. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return isNoArguments(value) ? '{}' : value
  if (!isObject(value)) return value === undefined || value === null ? '{}' : JSON.stringify(value)
  const raw = value[RAW]
  return typeof raw === 'string' && Object.keys(value).length === 1 ? raw : JSON.stringify(value)
}
