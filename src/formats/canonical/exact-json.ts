import { gatewayError } from '../../errors.ts'
import { isObject, isUnsafelyDeep, type JsonObject, MAX_DEPTH, tryParseJson } from '../../lib/json.ts'
import { withoutTrailing } from '../../lib/urls.ts'

/*
 * A number in JSON may have more digits than a JavaScript number can hold, as ids of 64 bits do. Such numbers are kept as their text
 * (https://github.com/tc39/proposal-json-parse-with-source), which `JSON.stringify` writes unchanged. In runtimes without that feature, such
 * as Node 20, they are rounded.
 */

/** Like `tryParseJson`, but integers that a JavaScript number cannot hold are kept as raw JSON. */
export const parseExactly = (text: string): unknown => parseKeeping(text, isRounded)

/** Like `parseExactly`, for values that are only passed on: fractions are kept as raw JSON as well. */
export const parseOpaque = (text: string): unknown => parseKeeping(text, (value, source) => !isSame(value, source))

/** The object parsed from `text`, again if some of its integers were rounded. */
export function exactObject(text: string, parsed: JsonObject): JsonObject {
  const exact = CANDIDATE.test(text) ? parseExactly(text) : undefined
  return isObject(exact) ? exact : parsed
}

/** Is this a number that was kept as raw JSON? */
export const isExactNumber = (value: unknown): value is { rawJSON: string } =>
  typeof value === 'object' && value !== null && (json.isRawJSON?.(value) ?? false)

interface SourceJson {
  rawJSON(text: string): unknown
  isRawJSON(value: unknown): boolean
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown
}

const json = JSON as Partial<SourceJson> & Pick<SourceJson, 'parse'> // newer than the types of the language

function parseKeeping(text: string, isLost: (value: number, source: string) => boolean): unknown {
  const { rawJSON } = json
  if (!rawJSON || !CANDIDATE.test(text)) return tryParseJson(text)
  try {
    return json.parse(text, (_, value, { source = '' }) =>
      typeof value === 'number' && source.length > SHORT && isLost(value, source) ? rawJSON(source) : value,
    )
  } catch {
    return undefined
  }
}

/** Finds numbers that may have too many digits, which few texts contain. */
const CANDIDATE = /[:,[\s]-?\d(?:[\d.]{15}|[\d.]*[eE]\+?\d{3})/

/** Numbers of up to this many characters are always exact. */
const SHORT = 4

const isRounded = (value: number, source: string): boolean =>
  !Number.isFinite(value) || (/^-?\d+$/.test(source) && !isSame(value, source))

const isSame = (value: number, source: string): boolean =>
  Number.isFinite(value) && (String(value) === source || plain(String(value)) === plain(source))

/** The significant digits and the exponent of a number. */
function plain(source: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
  const digits = withoutTrailing(whole + fraction, '0')
  const zeros = whole.length + fraction.length - digits.length
  return `${sign}${digits.replace(/^0+/, '')}e${digits === '' ? 0 : Number(exponent) - fraction.length + zeros}`
}

/** Throws the error for JSON in a provider's answer that nests too deep. */
export function refuseDeepAnswer(): never {
  throw gatewayError('UPSTREAM_INVALID', {
    message: `The provider sent JSON that nests deeper than ${MAX_DEPTH} levels.`,
  })
}

/** Returns the JSON text of an answer, or of one of its events, unless it nests so deep that it cannot be written again. */
export const notTooDeep = (text: string): string => (isUnsafelyDeep(text) ? refuseDeepAnswer() : text)
