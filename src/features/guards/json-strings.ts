import { gatewayError } from '../../errors.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  findStringEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../lib/json-scan.ts'

/** A string in JSON: a value, or the name of a field. */
export interface JsonString<Place> {
  /** With its quotes: `json.slice(start, end)`. */
  readonly start: number
  readonly end: number
  readonly text: string
  /** The name of its field, or the name itself; the empty string in an array. */
  readonly field: string
  readonly isName: boolean
  /** The place of the object or array that contains it. */
  readonly place: Place
}

interface JsonFrame<Place> {
  place: Place
  value: unknown
  names: Set<string> | undefined
  /** The current field, or the index of the current element. */
  key: string
  index: number
  isBeforeValue: boolean
}

/**
 * Visits every string of valid JSON in order, with its position, so that the string can be replaced without changing any other character. `enter`
 * gets each object and array with its parsed value, and returns its place. Linear time. Throws `code` if an object has two fields with the same name,
 * or a string of a request has an unpaired surrogate: parsers disagree about both.
 */
export function visitStrings<Place>(
  json: string,
  {
    root,
    value,
    enter,
    visit,
    code = 'INVALID_REQUEST',
  }: {
    root: Place
    value: unknown
    /** The error for JSON that parsers disagree about. A response may have halves of surrogate pairs, since models write them. */
    code?: 'INVALID_REQUEST' | 'UPSTREAM_INVALID'
    enter(parent: Place, key: string, value: object): Place
    visit(string: JsonString<Place>): void
  },
): void {
  const frames: Array<JsonFrame<Place>> = []
  let frame: JsonFrame<Place> | undefined

  function open(isObject: boolean) {
    const inner = frame ? getField(frame.value, frame) : value
    if (typeof inner !== 'object' || inner === null) throw createRepeatError(code, frame?.key ?? '') // of an earlier field with the same name
    const place = frame ? enter(frame.place, frame.key, inner) : root
    if (frame) frames.push(frame)
    frame = {
      place,
      value: inner,
      names: isObject ? new Set() : undefined,
      key: '',
      index: 0,
      isBeforeValue: !isObject,
    }
  }

  for (let at = 0; at < json.length; at++) {
    switch (json.charCodeAt(at)) {
      case QUOTE: {
        const end = findStringEnd(json, at)
        const text = readString(json, at, end)
        if (code === 'INVALID_REQUEST') checkUnicode(text)
        if (frame) {
          const isName = !frame.isBeforeValue
          if (isName) startField(frame, text, code)
          visit({ start: at, end, text, field: frame.key, isName, place: frame.place })
        }
        at = end - 1
        break
      }
      case OPEN_BRACE:
        open(true)
        break
      case OPEN_BRACKET:
        open(false)
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        frame = frames.pop()
        break
      case COLON:
        if (frame) frame.isBeforeValue = true
        break
      case COMMA:
        if (frame?.names) frame.isBeforeValue = false
        else if (frame) frame.index++
    }
  }
}

const COLON = 0x3a

function startField<Place>(frame: JsonFrame<Place>, name: string, code: Parameters<typeof createRepeatError>[0]) {
  if (frame.names?.has(name)) throw createRepeatError(code, name)
  frame.names?.add(name)
  frame.key = name
}

const createRepeatError = (code: 'INVALID_REQUEST' | 'UPSTREAM_INVALID', name: string) =>
  gatewayError(code, { message: `"${name.slice(0, 100)}" appears more than once in one object. Send it once.` })

const getField = <Place>(value: unknown, { names, key, index }: JsonFrame<Place>): unknown =>
  names ? (value as Record<string, unknown>)[key] : (value as unknown[])[index]

function readString(json: string, start: number, end: number): string {
  const raw = json.slice(start + 1, end - 1)
  return raw.includes('\\') ? String(JSON.parse(json.slice(start, end))) : raw
}

function checkUnicode(text: string) {
  if (LONE_SURROGATE.test(text))
    throw gatewayError('INVALID_REQUEST', {
      message: 'The request contains an unpaired surrogate, which is not valid Unicode.',
    })
}

const LONE_SURROGATE = /\p{Cs}/u
