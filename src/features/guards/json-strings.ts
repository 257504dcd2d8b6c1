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
export interface JsonString<Scope> {
  /** `json.slice(start, end)` includes the quotes. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** The field that contains the string, or the field name itself. Empty in an array. */
  readonly field: string
  readonly isName: boolean
  /** The scope of the string's object or array. */
  readonly scope: Scope
}

interface JsonFrame<Scope> {
  scope: Scope
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

/** Callbacks that visit strings with their scopes. */
export interface StringVisitor<Scope> {
  root: Scope
  value: unknown
  /** Receives each object and array with its parsed value and returns its scope. */
  enter(parent: Scope, key: string, value: object): Scope
  visit(string: JsonString<Scope>): void
  /** Returns whether a field name can be skipped. */
  canSkipName?(name: string, scope: Scope): boolean
  /** Returns whether a value can be skipped. It must not contain a colon. */
  canSkipValue?(field: string, text: string, scope: Scope): boolean
}

/**
 * Visits every string of a parsed value. Doesn't provide positions, but is faster than `visitStrings`. Returns whether `json`, the original text, may
 * contain something that parsers disagree about, such as a repeated field: it then has more colons than the value accounts for.
 */
export function visitValues<Scope>(
  json: string,
  { root, value, enter, visit, canSkipName, canSkipValue }: StringVisitor<Scope>,
): boolean {
  let nameCount = 0
  let colonCount = 0 // number of colons in strings
  const string = { start: 0, end: 0, text: '', field: '', isName: false, scope: root } // reused for all strings, to avoid allocations
  function visitString(scope: Scope, field: string, text: string, isName: boolean) {
    string.text = text
    string.field = field
    string.isName = isName
    string.scope = scope
    visit(string)
  }
  function walk(scope: Scope, container: object) {
    if (Array.isArray(container)) {
      for (let index = 0; index < container.length; index++) visitValue(scope, '', container[index])
      return
    }
    for (const key in container) {
      nameCount++ // may count inherited names, which only the app can add; the text is then checked more closely
      if (!canSkipName?.(key, scope)) {
        colonCount += countColons(key)
        visitString(scope, key, key, true)
      }
      visitValue(scope, key, (container as Record<string, unknown>)[key])
    }
  }
  function visitValue(scope: Scope, field: string, child: unknown) {
    if (typeof child === 'string') {
      if (canSkipValue?.(field, child, scope)) return
      colonCount += countColons(child)
      visitString(scope, field, child, false)
    } else if (typeof child === 'object' && child !== null) walk(enter(scope, field, child), child)
  }
  if (typeof value === 'object' && value !== null) walk(root, value)
  return nameCount + colonCount !== countColons(json) || ESCAPED_PATTERN.test(json) || hasLoneSurrogate(json)
}

/** Counts colons, which occur after names and within strings. */
function countColons(text: string): number {
  let count = 0
  for (let index = text.indexOf(':'); index !== -1; index = text.indexOf(':', index + 1)) count++
  return count
}

/**
 * Visits every string of valid JSON in order, in linear time. The positions allow replacing a string without changing any other character. Throws
 * `code` if an object repeats a field, or if a string in a request has an unpaired surrogate, because parsers disagree about both.
 */
export function visitStrings<Scope>(
  json: string,
  {
    root,
    value,
    enter,
    visit,
    canSkipValue,
    code = 'INVALID_REQUEST',
  }: StringVisitor<Scope> & {
    /** The error code for JSON that parsers disagree about. Responses may contain unpaired surrogates, because some models generate them. */
    code?: 'INVALID_REQUEST' | 'UPSTREAM_INVALID'
  },
): void {
  const mustCheckUnicode = code === 'INVALID_REQUEST' && (ESCAPED_PATTERN.test(json) || hasLoneSurrogate(json))
  const frames: Array<JsonFrame<Scope>> = []
  let frame: JsonFrame<Scope> | undefined

  function openContainer(isObject: boolean, start: number) {
    const container = frame ? getField(frame.value, frame) : value
    if (typeof container !== 'object' || container === null) throw createRepeatedFieldError(code, frame?.key ?? '') // the value of another occurrence of `key`
    const scope = frame ? enter(frame.scope, frame.key, container) : root
    if (frame) frames.push(frame)
    frame = {
      scope,
      value: container,
      names: isObject ? Object.keys(container) : undefined,
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
          const text = isName ? readFieldName(json, { start: index, end, frame }) : getField(frame.value, frame)
          if (typeof text !== 'string') throw createRepeatedFieldError(code, frame.key) // the value of another occurrence of `key`
          if (isName) frame.key = text
          if (mustCheckUnicode) checkUnicode(text)
          if (isName || !canSkipValue?.(frame.key, text, frame.scope))
            visit({ start: index, end, text, field: frame.key, isName, scope: frame.scope })
        }
        index = end - 1
        break
      }
      case OPEN_BRACE:
        openContainer(true, index)
        break
      case OPEN_BRACKET:
        openContainer(false, index)
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (frame?.names && frame.names.length !== frame.count)
          throw createRepeatedFieldError(code, findRepeatedName(json, frame.start))
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

const createRepeatedFieldError = (code: 'INVALID_REQUEST' | 'UPSTREAM_INVALID', name: string) =>
  gatewayError(code, { message: `"${name.slice(0, 100)}" appears more than once in one object. Send it once.` })

const getField = <Scope>(value: unknown, { names, key, index }: JsonFrame<Scope>): unknown =>
  names ? (value as Record<string, unknown>)[key] : (value as unknown[])[index]

/** Reads the next field name. Parsed objects list integer names first and all others in order, unless a name is repeated. */
function readFieldName<Scope>(
  json: string,
  { start, end, frame }: { start: number; end: number; frame: JsonFrame<Scope> },
): string {
  const { names = [] } = frame
  const nextName = names[frame.count++]
  const firstCode = names[0]?.charCodeAt(0) ?? 0
  const isInOrder = nextName !== undefined && (firstCode < DIGIT_0 || firstCode > DIGIT_9)
  return isInOrder ? nextName : String(JSON.parse(json.slice(start, end)))
}

const DIGIT_0 = 0x30
const DIGIT_9 = 0x39

function checkUnicode(text: string) {
  if (LONE_SURROGATE.test(text))
    throw gatewayError('INVALID_REQUEST', {
      message: 'The request contains an unpaired surrogate, which is not valid Unicode.',
    })
}

const hasLoneSurrogate = (json: string): boolean => SURROGATE_PATTERN.test(json) && LONE_SURROGATE_PATTERN.test(json)
const SURROGATE_PATTERN = /[\ud800-\udfff]/
const LONE_SURROGATE_PATTERN = /\p{Surrogate}/u
/** Matches an escaped colon, or an escaped half of a surrogate pair. */
const ESCAPED_PATTERN = /\\u(?:d[89a-f]|003a)/i
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/
