import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import { createSseParser, findBareJson, MAX_EVENT_SIZE } from '../../lib/sse.ts'
import type { ResponseReader, StreamState } from '../../protocols/formats/format.ts'

/**
 * Returns whether these events may contain an error, because the bytes contain `"error"` or `event: error`. Errors in every format do, as a field, a
 * type, or an event; within a string, the quotes would be escaped. The few chunks that match are parsed, and their format decides. Every chunk is
 * searched, so the search starts with the rare "r".
 */
export function mayContainError(bytes: Uint8Array): boolean {
  for (let index = bytes.indexOf(R); index >= 0; index = bytes.indexOf(R, index + 1)) {
    if (bytes[index + 1] !== R || bytes[index - 1] !== E || bytes[index + 2] !== O || bytes[index + 3] !== R) continue
    const previousByte = bytes[index - 2]
    if (previousByte === QUOTE ? bytes[index + 4] === QUOTE : previousByte === COLON || bytes[index - 3] === COLON)
      return true
  }
  return false
}

const R = 0x72
const E = 0x65
const O = 0x6f
const QUOTE = 0x22
const COLON = 0x3a

/** Returns whether one of these complete events may not be part of a response: an error in another format, or text from an intermediate server. */
export function mayBeForeign(events: Uint8Array, { isResponseEvent }: ResponseReader): boolean {
  let start = 0
  while (start < events.length) {
    const end = findEventEnd(events, start)
    const isOnlyEvent = start === 0 && end === events.length // true for most chunks, for which creating a view would add a third of the time
    if (events[start] === COLON || !isResponseEvent(isOnlyEvent ? events : events.subarray(start, end))) return true
    start = end
  }
  return false
}

/** Returns the position after the blank line that ends the event, or the end of the bytes if lines don't end with a line feed. */
function findEventEnd(events: Uint8Array, start: number): number {
  for (let index = events.indexOf(LF, start); index !== -1; index = events.indexOf(LF, index + 1)) {
    if (events[index + 1] === LF) return index + 2
    if (events[index + 1] === CR && events[index + 2] === LF) return index + 3
  }
  return events.length
}

/**
 * Completes a stream's last event if only its blank line is missing, even if it is an error as bare JSON. Passes such an error to `state`, because it
 * isn't an event. Drops an incomplete event.
 */
export function completeEvent(remainder: Uint8Array, state: StreamState): Uint8Array {
  if (remainder.length === 0 || endsWithReturns(remainder)) return remainder
  if (remainder.length > MAX_EVENT_SIZE) return NOTHING
  const text = decodeUtf8Lenient(remainder)
  const bareJson = findBareJson(text)
  return (bareJson === undefined ? isEvent(text) : isError(bareJson, state))
    ? concatBytes([remainder, encodeUtf8('\n\n')])
    : NOTHING
}

/** Returns whether the text is an event. An event name without data isn't one. */
function isEvent(text: string): boolean {
  let isComplete = false
  const parser = createSseParser(({ data }) => {
    isComplete = data === '[DONE]' || tryParseJson(data) !== undefined
  })
  parser.push(text)
  parser.end()
  return isComplete
}

function isError(bareJson: string, state: StreamState): boolean {
  const value = tryParseJson(bareJson)
  if (!isObject(value) || !value.error) return false
  state.observe({ event: undefined, data: bareJson })
  return true
}

/** Returns whether the rest ends in two carriage returns. Such an event was held back because its last return could have been half of a CRLF. */
const endsWithReturns = (remainder: Uint8Array) => remainder.at(-1) === CR && remainder.at(-2) === CR

const CR = 0x0d
const LF = 0x0a
const NOTHING = new Uint8Array(0)
