import { gatewayError } from '../../../errors.ts'
import { isObject, isTooDeepToSerialize, type JsonObject, MAX_DEPTH, tryParseJson } from '../../../lib/json.ts'
import { trimTrailing } from '../../../lib/urls.ts'

/*
 * Numbers in JSON, such as 64-bit IDs, may have more digits than a JavaScript number can represent. They are kept as text
 * (https://github.com/tc39/proposal-json-parse-with-source), which `JSON.stringify` writes unchanged. Runtimes without that feature, such
 * as Node 20, round them.
 */

/** Works like `tryParseJson`, but keeps integers that a JavaScript number can't represent as raw JSON. */
export const parseExactly = (text: string): unknown => parsePreserving(text, isRounded)

/** Works like `parseExactly`, but also keeps fractions as raw JSON. For values that are only forwarded. */
export const parseOpaque = (text: string): unknown =>
  parsePreserving(text, (value, source) => !isSameNumber(value, source))

/** Parses `text` again if some of the integers in `parsed` were rounded. */
export function parseExactObject(text: string, parsed: JsonObject): JsonObject {
  const exactValue = LONG_NUMBER_PATTERN.test(text) ? parseExactly(text) : undefined
  return isObject(exactValue) ? exactValue : parsed
}

/** Returns whether the number was kept as raw JSON. */
export const isExactNumber = (value: unknown): value is { rawJSON: string } =>
  typeof value === 'object' && value !== null && (json.isRawJSON?.(value) ?? false)

interface SourceJson {
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): boolean
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
}

const json = JSON as Partial<SourceJson> & Pick<SourceJson, 'parse'> // these functions are newer than TypeScript's built-in types

function parsePreserving(text: string, isLossy: (value: number, source: string) => boolean): unknown {
  const { rawJSON } = json
  if (!rawJSON || !LONG_NUMBER_PATTERN.test(text)) return tryParseJson(text)
  try {
    return json.parse(text, (_, value, { source = '' }) =>
      typeof value === 'number' && source.length > MAX_EXACT_LENGTH && isLossy(value, source) ? rawJSON(source) : value,
    )
  } catch {
    return undefined
  }
}

/** Matches numbers that may have too many digits. Few strings contain any. */
const LONG_NUMBER_PATTERN = /[:,[\s]-?\d(?:[\d.]{15}|[\d.]*[eE]\+?\d{3})/

/** Numbers of up to this many characters are always exact. */
const MAX_EXACT_LENGTH = 4

const isRounded = (value: number, source: string): boolean =>
  !Number.isFinite(value) || (/^-?\d+$/.test(source) && !isSameNumber(value, source))

const isSameNumber = (value: number, source: string): boolean =>
  Number.isFinite(value) && (String(value) === source || normalize(String(value)) === normalize(source))

/** Reduces a number to its significant digits and its exponent. */
function normalize(source: string): string {
  const [, sign = '', integer = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const digits = trimTrailing(integer + fraction, '0')
  const trailingZeros = integer.length + fraction.length - digits.length
  return `${sign}${digits.replace(/^0+/, '')}e${digits === '' ? 0 : Number(exponent) - fraction.length + trailingZeros}`
}

/** Throws the error for a provider's response with JSON that is nested too deep. */
export function rejectDeepResponse(): never {
  throw gatewayError('UPSTREAM_INVALID', {
    message: `The provider returned JSON nested deeper than ${MAX_DEPTH} levels.`,
  })
}

/** Returns a response's or an event's JSON. Throws `UPSTREAM_INVALID` if the JSON is nested too deep to be written again. */
export const checkDepth = (text: string): string => (isTooDeepToSerialize(text) ? rejectDeepResponse() : text)
