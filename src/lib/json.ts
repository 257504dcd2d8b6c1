import { gatewayError } from '../errors.ts'
import { decodeUtf8 } from './bytes.ts'
import { charCodeAt } from './char-code-at.ts'
import { BACKSLASH, exceedsDepth, QUOTE, scanTopLevel } from './json-scan.ts'

/** A JSON object whose fields haven't been checked. */
export type JsonObject = { [name: string]: unknown }

/** Returns whether a value is an object other than null or an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Converts a string, number, or boolean to text; an object becomes an empty string, because its `toString` field may not be a function. */
export const formatScalar = (value: unknown): string =>
  typeof value === 'object' && value !== null ? '' : String(value)

/** Decodes UTF-8. Throws `INVALID_JSON` for invalid UTF-8. */
export function decodeJsonText(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    throw gatewayError('INVALID_JSON', { message: 'The request body is not valid UTF-8.', cause })
  }
}

/** The maximum depth of a client's JSON, and of JSON in a string, such as a tool call's arguments. */
export const MAX_DEPTH = 64

/** The maximum depth that every platform can traverse and serialize. Applies to providers' JSON, which wraps clients' JSON. */
const MAX_SAFE_DEPTH = 500

/**
 * The maximum depth of any JSON that is parsed. `JSON.parse` takes 3 ms for this depth, and a third of a second for the 800,000 levels that fit in a
 * small response. No API comes close: the nested parts of a response are arguments of tool calls, which have at most 64 levels in a client's request.
 */
export const MAX_PARSED_DEPTH = 10_000

/** Returns whether the text is JSON that nests deeper than a client's JSON may. */
export const isTooDeep = (text: string): boolean =>
  exceedsDepth(text, MAX_DEPTH) && (isTooDeepToParse(text) ? endsWithBracket(text) : tryParseJson(text) !== undefined)

/** Returns whether the text nests so deep that writing its value as JSON could exhaust the stack. */
export const isTooDeepToSerialize = (text: string): boolean => exceedsDepth(text, MAX_SAFE_DEPTH)

/** Returns whether the text nests too deep to be parsed. */
export const isTooDeepToParse = (text: string): boolean => exceedsDepth(text, MAX_PARSED_DEPTH)

const endsWithBracket = (text: string) => /[\]}]$/.test(text.trimEnd())

/**
 * Parses a client's JSON object; `depth` is its depth, if known. Throws `INVALID_JSON` with the reason if the text isn't JSON, isn't an object, or
 * nests deeper than 64 levels.
 */
export function parseJsonObject(text: string, depth = scanTopLevel(text, []).depth): JsonObject {
  if (text.trim() === '')
    throw gatewayError('INVALID_JSON', { message: 'The request body is empty. Send a JSON object.' })
  if (depth > MAX_DEPTH) {
    throw gatewayError('INVALID_JSON', { message: `The request body is nested deeper than ${MAX_DEPTH} levels.` })
  }
  const value = parseJson(text)
  if (!isObject(value)) throw gatewayError('INVALID_JSON', { message: 'The request body must be a JSON object.' })
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // Engines' messages differ, and quote the text, which may contain a secret. Keep only the position.
    const location = text.includes('"')
      ? /position \d+/.exec(String(error))
      : 'a shell may have removed its double quotes'
    throw gatewayError('INVALID_JSON', {
      message: `The request body is not valid JSON${location ? `: ${location}` : ''}.`,
    })
  }
}

/** Parses JSON; `undefined` (which JSON can't express) if it is invalid or nests deeper than 10,000 levels. */
export function tryParseJson(text: string): unknown {
  if (isTooDeepToParse(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Like `tryParseJson`, for values that are written as JSON later. Also returns `undefined` if writing the value could exhaust the stack. */
export const tryParseShallow = (text: string): unknown => (isTooDeepToSerialize(text) ? undefined : tryParseJson(text))

/** Converts a value to JSON. Returns `undefined` if it nests too deep for the stack. */
export function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/**
 * Escapes text for a JSON string, without the quotes. For short plain strings, such as most deltas in a stream, it takes a third of the time of
 * `JSON.stringify`: the loop is compiled inline, which is faster than any call for so few characters.
 */
export function escapeJson(text: string): string {
  const { length } = text
  if (length > MAX_SHORT_LENGTH) return JSON.stringify(text).slice(1, -1)
  for (let index = 0; index < length; index++)
    if (isEscaped(charCodeAt(text, index))) return JSON.stringify(text).slice(1, -1)
  return text
}

const MAX_SHORT_LENGTH = 32

/** Returns whether JSON escapes a character: a control character, a quote, a backslash, or half of a surrogate pair. */
const isEscaped = (code: number): boolean =>
  code < 0x20 || code === QUOTE || code === BACKSLASH || (code >= 0xd800 && code <= 0xdfff)
