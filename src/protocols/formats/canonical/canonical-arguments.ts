import { isObject, isTooDeep, type JsonObject, MAX_DEPTH } from '../../../lib/json.ts'
import type { ToolCallPart } from './canonical-parts.ts'
import type { Warnings } from './canonical-warnings.ts'
import { parseOpaque, rejectDeepResponse } from './exact-json.ts'

/** The field for arguments that aren't a JSON object, in formats that require an object. */
const RAW_ARGUMENTS_FIELD = '_raw'

/**
 * Parses arguments in a response: `{}` if there are none, `{ _raw }` if they aren't an object. Throws `UPSTREAM_INVALID` if they are nested deeper
 * than 64 levels.
 */
export const parseArguments = (text: string): JsonObject => parseObject(text, rejectDeepResponse)

/**
 * Parses arguments in a request in the same way as `parseArguments`. Throws `INVALID_REQUEST`, naming the call, if they are nested deeper than 64
 * levels.
 */
export const parseRequestArguments = (part: ToolCallPart, warnings: Warnings): JsonObject =>
  parseObject(part.arguments, () =>
    warnings.reject(
      warnings.getPath(part, 'turns'),
      `the call's arguments are nested deeper than ${MAX_DEPTH} levels.`,
    ),
  )

function parseObject(text: string, reject: () => never): JsonObject {
  if (text.trim() === '') return {}
  if (isTooDeep(text)) reject()
  const value = parseOpaque(text)
  return isObject(value) ? value : { [RAW_ARGUMENTS_FIELD]: text }
}

/** Returns whether the text is a placeholder that some models write for a call without arguments. */
export const isEmptyArguments = (text: string): boolean => text === '{}' || text === 'null'

/** Writes a call's arguments as a string. Throws `UPSTREAM_INVALID` if an object is nested deeper than 64 levels. */
export function stringifyArguments(value: unknown): string {
  if (typeof value === 'string') return isEmptyArguments(value) ? '{}' : value
  if (!isObject(value)) return value === undefined || value === null ? '{}' : JSON.stringify(value)
  const rawArguments = value[RAW_ARGUMENTS_FIELD]
  if (typeof rawArguments === 'string' && Object.keys(value).length === 1) return rawArguments
  return stringifyObject(value)
}

/** Writes arguments that a provider sends as an object. Throws `UPSTREAM_INVALID` if they are nested deeper than 64 levels. */
export function stringifyObject(value: JsonObject): string {
  const text = JSON.stringify(value)
  return isTooDeep(text) ? rejectDeepResponse() : text
}

/** Reads a free-form tool's input from the arguments of the function that replaced it. */
export function getFreeFormInput(argumentsText: string): string {
  const { input } = parseArguments(argumentsText)
  return typeof input === 'string' ? input : argumentsText
}
