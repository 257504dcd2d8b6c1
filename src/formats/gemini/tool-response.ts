import { isObject, isTooDeep, type JsonObject } from '../../lib/json.ts'
import { parseOpaque } from '../canonical/exact-json.ts'

/*
 * A function's result is an object here and a text elsewhere. An object with nothing but `output` or `error`, which is how Google names
 * them, or `result`, stands for what is in it; any other object is the result itself.
 */

/** The text of a result, and whether it tells an error. */
export function parseResponse(response: JsonObject): { text: string; isError: boolean } {
  const name = wrapperOf(response)
  if (name !== undefined) return { text: textOf(response[name]), isError: name === 'error' }
  return { text: Object.keys(response).length === 0 ? '' : JSON.stringify(response), isError: false }
}

/** The object for a text: itself when it is one in JSON. Calls `refuse` when that nests deeper than a request may. */
export function writeResponse(text: string, isError: boolean, refuse: () => never): JsonObject {
  if (isError) return { error: text }
  if (text === '') return {}
  const mayBeJson = /^\s*[[{]/.test(text)
  if (mayBeJson && isTooDeep(text)) refuse()
  const value = mayBeJson ? parseOpaque(text) : undefined
  if (isObject(value) && wrapperOf(value) === undefined && Object.keys(value).length > 0) return value
  return { output: value ?? text }
}

function wrapperOf(response: JsonObject): 'output' | 'result' | 'error' | undefined {
  const [name, ...others] = Object.keys(response)
  return others.length === 0 && (name === 'output' || name === 'result' || name === 'error') ? name : undefined
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
