import { isObject, isTooDeep, type JsonObject, MAX_DEPTH } from '../../lib/json.ts'
import { parseOpaque, refuseDeepAnswer } from './exact-json.ts'
import type { ToolCallPart } from './parts.ts'
import type { Warnings } from './warnings.ts'

/** The member for arguments that are no JSON object, in formats that require one. */
const RAW = '_raw'

/**
 * The arguments of a call in an answer as an object: `{}` for none, and `{ _raw }` for text that is no JSON object. Throws
 * `UPSTREAM_INVALID` when they nest deeper than 64 levels.
 */
export const argumentsOf = (text: string): JsonObject => objectOf(text, refuseDeepAnswer)

/**
 * The arguments of a call in a request as an object, as `argumentsOf`. Throws `INVALID_REQUEST`, naming the call, when they nest deeper than
 * 64 levels.
 */
export const requestArguments = (part: ToolCallPart, warnings: Warnings): JsonObject =>
  objectOf(part.arguments, () =>
    warnings.refuse(warnings.pathOf(part, 'turns'), `the arguments of the call nest deeper than ${MAX_DEPTH} levels.`),
  )

function objectOf(text: string, refuse: () => never): JsonObject {
  if (text.trim() === '') return {}
  if (isTooDeep(text)) refuse()
  const value = parseOpaque(text)
  return isObject(value) ? value : { [RAW]: text }
}

/** Is this a text that some models write when a call has no arguments? */
export const isNoArguments = (text: string): boolean => text === '{}' || text === 'null'

/** The arguments of a call as text, from an object. Throws `UPSTREAM_INVALID` when the object nests deeper than 64 levels. */
export function argumentsText(value: unknown): string {
  if (typeof value === 'string') return isNoArguments(value) ? '{}' : value
  if (!isObject(value)) return value === undefined || value === null ? '{}' : JSON.stringify(value)
  const raw = value[RAW]
  if (typeof raw === 'string' && Object.keys(value).length === 1) return raw
  return objectText(value)
}

/** The text of arguments that a provider sends as an object. Throws `UPSTREAM_INVALID` when it nests deeper than 64 levels. */
export function objectText(value: JsonObject): string {
  const text = JSON.stringify(value)
  return isTooDeep(text) ? refuseDeepAnswer() : text
}

/** The input of a free-form tool, from the arguments of the function that stands in for it. */
export function freeText(call: string): string {
  const { input } = argumentsOf(call)
  return typeof input === 'string' ? input : call
}
