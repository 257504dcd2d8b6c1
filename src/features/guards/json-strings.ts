import { gatewayError } from '../../errors.ts'
import { charCodeAt } from '../../lib/char-code-at.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  findStringEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../lib/json-scan.ts'

/** A string in JSON: a value or a field name. */
export interface JsonString<Place> {
  /** `json.slice(start, end)` includes the quotes. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** The field that contains the string, or the field name itself. Empty in an array. */
  readonly field: string
  readonly isName: boolean
  /** The place of the string's object or array. */
  readonly place: Place
}

interface JsonFrame<Place> {
  place: Place
  value: unknown
  /** The object's field names and how many have been visited. `undefined` for an array. */
  names: readonly string[] | undefined
  count: number
  start: number
  /** The current field or the current element's index. */
  key: string
  index: number
  isBeforeValue: boolean
}

/** Callbacks that visit strings with their places. */
export interface StringVisitor<Place> {
  root: Place
  value: unknown
  /** Receives each object and array with its parsed value and returns its place. */
  enter(parent: Place, key: string, value: object): Place
  visit(string: JsonString<Place>): void
  /** Returns whether a field name can be skipped. */
  isPlainName?(name: string, place: Place): boolean
  /** Returns whether a value can be skipped. It must not contain a colon. */
  isPlainValue?(field: string, text: string, place: Place): boolean
}

/**
 * Visits every string of a parsed value. Doesn't provide positions, but is faster than `visitStrings`. Returns whether `json`, the original text, may
 * contain something that parsers disagree about, such as a repeated field: it then has more colons than the value accounts for.
 */
export function visitValues<Place>(
  json: string,
  { root, value, enter, visit, isPlainName, isPlainValue }: StringVisitor<Place>,
): boolean {
  let names = 0
  let colons = 0 // number of colons in strings
  const string = { start: 0, end: 0, text: '', field: '', isName: false, place: root } // reused for all strings, to avoid allocations
  function visitString(place: Place, field: string, text: string, isName: boolean) {
    string.text = text
    string.field = field
    string.isName = isName
    string.place = place
    visit(string)
  }
  function walk(place: Place, inner: object) {
    if (Array.isArray(inner)) {
      for (let index = 0; index < inner.length; index++) visitValue(place, '', inner[index])
      return
    }
    for (const key in inner) {
      names++ // may count inherited names, which only the app can add; the text is then checked more closely
      if (!isPlainName?.(key, place)) {
        colons += countColons(key)
        visitString(place, key, key, true)
      }
      visitValue(place, key, (inner as Record<string, unknown>)[key])
    }
  }
  function visitValue(place: Place, field: string, inner: unknown) {
    if (typeof inner === 'string') {
      if (isPlainValue?.(field, inner, place)) return
      colons += countColons(inner)
      visitString(place, field, inner, false)
    } else if (typeof inner === 'object' && inner !== null) walk(enter(place, field, inner), inner)
  }
  if (typeof value === 'object' && value !== null) walk(root, value)
  return names + colons !== countColons(json) || ESCAPED_PATTERN.test(json) || hasHalves(json)
}

/** Counts colons, which occur after names and within strings. */
function countColons(text: string): number {
  let count = 0
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count++
  return count
}

/**
 * Visits every string of valid JSON in order, in linear time. The positions allow replacing a string without changing any other character. Throws
 * `code` if an object repeats a field, or if a string in a request has an unpaired surrogate, because parsers disagree about both.
 */
export function visitStrings<Place>(
  json: string,
  {
    root,
    value,
    enter,
    visit,
    isPlainValue,
    code = 'INVALID_REQUEST',
  }: StringVisitor<Place> & {
    /** The error code for JSON that parsers disagree about. Responses may contain unpaired surrogates, because some models generate them. */
    code?: 'INVALID_REQUEST' | 'UPSTREAM_INVALID'
  },
): void {
  const mustCheckUnicode = code === 'INVALID_REQUEST' && (ESCAPED_PATTERN.test(json) || hasHalves(json))
  const frames: Array<JsonFrame<Place>> = []
  let frame: JsonFrame<Place> | undefined

  function open(isObject: boolean, start: number) {
    const inner = frame ? getField(frame.value, frame) : value
    if (typeof inner !== 'object' || inner === null) throw createRepeatError(code, frame?.key ?? '') // the value of another occurrence of `key`
    const place = frame ? enter(frame.place, frame.key, inner) : root
    if (frame) frames.push(frame)
    frame = {
      place,
      value: inner,
      names: isObject ? Object.keys(inner) : undefined,
      count: 0,
      start,
      key: '',
      index: 0,
      isBeforeValue: !isObject,
    }
  }

  const { length } = json
  for (let index = 0; index < length; index++) {
    switch (charCodeAt(json, index)) {
      case QUOTE: {
        const end = findStringEnd(json, index)
        if (frame) {
          const isName = !frame.isBeforeValue
          const text = isName ? readName(json, { start: index, end, frame }) : getField(frame.value, frame)
          if (typeof text !== 'string') throw createRepeatError(code, frame.key) // the value of another occurrence of `key`
          if (isName) frame.key = text
          if (mustCheckUnicode) checkUnicode(text)
          if (isName || !isPlainValue?.(frame.key, text, frame.place))
            visit({ start: index, end, text, field: frame.key, isName, place: frame.place })
        }
        index = end - 1
        break
      }
      case OPEN_BRACE:
        open(true, index)
        break
      case OPEN_BRACKET:
        open(false, index)
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (frame?.names && frame.names.length !== frame.count)
          throw createRepeatError(code, findRepeatedName(json, frame.start))
        frame = frames.pop()
        break
      case COLON:
        if (frame) frame.isBeforeValue = true
        break
      case COMMA:
        if (!frame) break
        if (frame.names) frame.isBeforeValue = false
        else frame.index++
    }
  }
}

const COLON = 0x3a

/** Returns the first repeated field in the object that opens at `start`. */
function findRepeatedName(json: string, start: number): string {
  const names = new Set<string>()
  let depth = 0
  for (let index = start; index < json.length; index++) {
    const code = charCodeAt(json, index)
    if (code === QUOTE) {
      const end = findStringEnd(json, index)
      const isName = depth === 1 && /^\s*:/.test(json.slice(end, end + 100))
      const name = isName ? String(JSON.parse(json.slice(index, end))) : ''
      if (isName && names.size === names.add(name).size) return name
      index = end - 1
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
  }
  return ''
}

const createRepeatError = (code: 'INVALID_REQUEST' | 'UPSTREAM_INVALID', name: string) =>
  gatewayError(code, { message: `"${name.slice(0, 100)}" appears more than once in one object. Send it once.` })

const getField = <Place>(value: unknown, { names, key, index }: JsonFrame<Place>): unknown =>
  names ? (value as Record<string, unknown>)[key] : (value as unknown[])[index]

/** Reads the next field name. Parsed objects list integer names first and all others in order, unless a name is repeated. */
function readName<Place>(
  json: string,
  { start, end, frame }: { start: number; end: number; frame: JsonFrame<Place> },
): string {
  const { names = [] } = frame
  const next = names[frame.count++]
  const first = names[0]?.charCodeAt(0) ?? 0
  const isInOrder = next !== undefined && (first < DIGIT_0 || first > DIGIT_9)
  return isInOrder ? next : String(JSON.parse(json.slice(start, end)))
}

const DIGIT_0 = 0x30
const DIGIT_9 = 0x39

function checkUnicode(text: string) {
  if (LONE_SURROGATE.test(text))
    throw gatewayError('INVALID_REQUEST', {
      message: 'The request contains an unpaired surrogate, which is not valid Unicode.',
    })
}

const hasHalves = (json: string): boolean => SURROGATE_PATTERN.test(json) && LONE_SURROGATE_PATTERN.test(json)
const SURROGATE_PATTERN = /[\ud800-\udfff]/
const LONE_SURROGATE_PATTERN = /\p{Surrogate}/u
/** Matches an escaped colon, or an escaped half of a surrogate pair. */
const ESCAPED_PATTERN = /\\u(?:d[89a-f]|003a)/i
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
