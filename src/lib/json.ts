import { gatewayError } from '../errors.ts'
import { decodeUtf8 } from './bytes.ts'
import { scanTopLevel } from './json-scan.ts'

/** An object of JSON whose fields are not checked yet. */
export type JsonObject = { [name: string]: unknown }

/** Neither null nor an array. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** UTF-8 bytes as text. Throws `INVALID_JSON` when they are something else. */
export function jsonText(bytes: Uint8Array): string {
  try {
    return decodeUtf8(bytes)
  } catch (cause) {
    throw gatewayError('INVALID_JSON', { message: 'The request body is not valid UTF-8.', cause })
  }
}

/** How deep the JSON of a client may nest. */
const MAX_DEPTH = 64

/**
 * Parses a client's JSON object; `depth` is how deep it nests, if that is known. Throws `INVALID_JSON` with a sentence that says what is
 * wrong, also when it nests too deep.
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
    // Engines say where in different words, and quote the text, which may be a secret.
    const where = text.includes('"') ? /position \d+/.exec(String(error)) : 'a shell may have taken its double quotes'
    throw gatewayError('INVALID_JSON', { message: `The request body is not valid JSON${where ? `: ${where}` : ''}.` })
  }
}

/** The value, or `undefined` (which JSON cannot express) when the text is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return value
  } catch {
    return undefined
  }
}

/** The JSON of a text: of a short one, which nearly all words of a stream are, in half the time. */
export const quoted = (text: string): string =>
  text.length < SHORT && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)

const SHORT = 200

/** Nothing that JSON escapes. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/
