import { gatewayError } from '../errors.ts'
import { decodeUtf8 } from './bytes.ts'
import { nestsDeeper, scanTopLevel } from './json-scan.ts'

/** A JSON object whose members have not been checked. */
export type JsonObject = { [name: string]: unknown }

/** Is it an object, neither null nor an array? */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Decodes UTF-8. Throws `INVALID_JSON` on bytes that are not UTF-8. */
export function jsonText(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    throw gatewayError('INVALID_JSON', { message: 'The request body is not valid UTF-8.', cause })
  }
}

/** The most levels of a client's JSON, and of JSON in a text within JSON, such as the arguments of a tool call. */
export const MAX_DEPTH = 64

/** How deep JSON may nest so that every platform can walk and write it. A provider's JSON may be as deep, since it wraps the JSON of clients. */
const MAX_SAFE_DEPTH = 500

/**
 * The most levels of any JSON that is parsed. `JSON.parse` takes 3 ms for so many, and a third of a second for the 800,000 levels that a
 * small answer can have. No API comes near: what nests in an answer are arguments of calls, of which a client's request holds 64 levels.
 */
export const MAX_PARSED_DEPTH = 10_000

/** Is the text JSON that nests deeper than a client's JSON may? */
export const isTooDeep = (text: string): boolean =>
  nestsDeeper(text, MAX_DEPTH) && (isUnparsablyDeep(text) ? isClosed(text) : tryParseJson(text) !== undefined)

/** Does the text nest so deep that writing its value as JSON could exhaust the stack? */
export const isUnsafelyDeep = (text: string): boolean => nestsDeeper(text, MAX_SAFE_DEPTH)

/** Does the text nest so deep that it is not parsed? */
export const isUnparsablyDeep = (text: string): boolean => nestsDeeper(text, MAX_PARSED_DEPTH)

/** Does the text end as an object or an array does? */
const isClosed = (text: string) => /[\]}]$/.test(text.trimEnd())

/**
 * Parses a client's JSON object; `depth` is how deep it nests, if known. Throws `INVALID_JSON` with the reason when the text is not JSON, not
 * an object, or nests deeper than 64 levels.
 */
export function parseJsonObject(text: string, depth = scanTopLevel(text, []).depth): JsonObject {
  if (text.trim() === '')
    throw gatewayError('INVALID_JSON', { message: 'The request body is empty; send a JSON object.' })
  if (depth > MAX_DEPTH) {
    throw gatewayError('INVALID_JSON', { message: `The request body nests deeper than ${MAX_DEPTH} levels.` })
  }
  const value = parseJson(text)
  if (!isObject(value)) throw gatewayError('INVALID_JSON', { message: 'The request body must be a JSON object.' })
  return value
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The messages of JavaScript engines differ, and quote the text, which may contain a secret: only the position is kept.
    const where = text.includes('"') ? /position \d+/.exec(String(error)) : 'a shell may have taken its double quotes'
    throw gatewayError('INVALID_JSON', { message: `The request body is not valid JSON${where ? `: ${where}` : ''}.` })
  }
}

/** The value, or `undefined` (which JSON cannot express) when the text is not JSON, or nests deeper than 10,000 levels. */
export function tryParseJson(text: string): unknown {
  if (isUnparsablyDeep(text)) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** Parses a value that is written as JSON again later: also `undefined` when it nests so deep that writing it could exhaust the stack. */
export const tryParseShallow = (text: string): unknown => (isUnsafelyDeep(text) ? undefined : tryParseJson(text))

/** The value as JSON; `undefined` when it nests too deep for the stack. */
export function tryStringify(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    return undefined
  }
}

/** A text as a JSON string. Short plain texts, as most deltas of a stream are, take half the time of `JSON.stringify`. */
export const quoted = (text: string): string =>
  text.length < SHORT && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)

const SHORT = 200

/** Characters that JSON does not escape. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/
