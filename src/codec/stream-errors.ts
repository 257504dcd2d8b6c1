import { readMessage } from '../formats/errors/read.ts'
import type { AnswerReader, EmbeddedError, ErrorFacts, Format, StreamPosition, StreamState } from '../formats/format.ts'
import { concatBytes, decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { isObject, tryParseJson, tryParseShallow } from '../lib/json.ts'
import { bareJsonIn, createSseParser, eventText, MAX_EVENT, type SseEvent, splitEvents } from '../lib/sse.ts'
import { censored } from './secrets.ts'

/**
 * May these events contain an error: do the bytes contain `"error"` or `event: error`? The errors of all formats do, as a member, a type or
 * an event, and so do those of vendors that send an error of another format; within a text the quotes would be escaped. The few chunks that
 * pass are parsed, and their format decides. Every chunk is searched, for the rare "r" first.
 */
export function maySpeakOfErrors(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(R); at >= 0; at = bytes.indexOf(R, at + 1)) {
    if (bytes[at + 1] !== R || bytes[at - 1] !== E || bytes[at + 2] !== O || bytes[at + 3] !== R) continue
    const before = bytes[at - 2]
    if (before === QUOTE ? bytes[at + 4] === QUOTE : before === COLON || bytes[at - 3] === COLON) return true
  }
  return false
}

const R = 0x72
const E = 0x65
const O = 0x6f
const QUOTE = 0x22
const COLON = 0x3a

/** May one of these whole events be no event of an answer of its format, but an error of another format, or words of a server in between? */
export function mayBeForeign(events: Uint8Array, { isOwnEvent }: AnswerReader): boolean {
  let start = 0
  while (start < events.length) {
    const end = endOfEvent(events, start)
    const isOnly = start === 0 && end === events.length // as most are: a view would take a third of the time
    if (events[start] === COLON || !isOwnEvent(isOnly ? events : events.subarray(start, end))) return true
    start = end
  }
  return false
}

/** The place behind the blank line of the event that begins here; behind all where lines do not end with a line feed. */
function endOfEvent(events: Uint8Array, start: number): number {
  for (let at = events.indexOf(LF, start); at !== -1; at = events.indexOf(LF, at + 1)) {
    if (events[at + 1] === LF) return at + 2
    if (events[at + 1] === CR && events[at + 2] === LF) return at + 3
  }
  return events.length
}

/** Whole events, as the client gets them. */
interface SeenEvents {
  /** What the provider reports: the stream ends with it. */
  error?: EmbeddedError
  /** All up to the error, and nothing after it that could look like a normal end. */
  bytes: Uint8Array
}

interface ErrorEventTerms {
  /** The client's. */
  format: Format
  answers: AnswerReader
  /** The credentials to be removed from the error. */
  secrets(): Promise<readonly string[]>
  /** The state of the stream before these events. */
  before(): StreamState
}

/**
 * What the client gets of these whole events. Those that are none of an answer lose the credentials that they quote. Where one reports an
 * error, the stream ends: the provider's own error event stays, once; where clients of the format would not recognise it as an error, the
 * provider's next one that they do recognise follows, or else the format's error event. That stands in the place of an error that is no event
 * at all, but bare JSON.
 */
export async function seenEvents(
  whole: Uint8Array,
  { format, answers, secrets: known, before }: ErrorEventTerms,
): Promise<SeenEvents> {
  if (!MENTIONS_ERROR.test(decodeUtf8Lenient(whole)) && !mayBeForeign(whole, answers)) return { bytes: whole }
  const { errors } = format
  const secrets = await known()
  const kept: Uint8Array[] = []
  const all: Uint8Array[] = []
  let error: EmbeddedError | undefined
  let isReported = false // in a form that clients recognise
  let isEnded = false // within these
  let passedError: SseEvent | undefined
  let place: StreamPosition = {}
  const given = splitEvents(whole)
  const rest = whole.subarray(given.reduce((size, { length }) => size + length, 0))
  for (const bytes of rest.length > 0 ? [...given, rest] : given) {
    const found = eventIn(bytes, format, answers)
    const isAnswer = !found.error && (found.event !== undefined || found.isBare) && answers.isOwnEvent(bytes)
    const clean = isAnswer ? bytes : withoutQuotes(bytes, found.event, secrets)
    all.push(clean)
    if (!error) isEnded ||= found.ended && !found.error
    const isFirst = !error
    error ??= found.error
    place = { ...place, ...found.place }
    if (!error) kept.push(clean)
    else if (found.error && !found.isBare && !isReported && (isFirst || found.isRecognised)) {
      kept.push(clean)
      passedError = found.event
    }
    isReported ||= found.isRecognised
  }
  if (!error || (isReported && (isEnded || before().ended))) return { bytes: concatBytes(all) }
  if (!isReported) {
    const event = errors.event(factsOf(error), { ...before().place, ...place, passedError })
    kept.push(encodeUtf8(censored(event, secrets)))
  }
  return { error, bytes: concatBytes(kept) }
}

/** Some formats have an `error` member in every event, mostly null. */
const MENTIONS_ERROR = /"error"(?!\s*:\s*null)|event: ?error/

function eventIn(bytes: Uint8Array, { errors }: Format, answers: AnswerReader) {
  const state = answers.watchStream()
  const text = decodeUtf8Lenient(bytes)
  let isRecognised = false
  let event: SseEvent | undefined
  const bare = bareJsonIn(text)
  if (bare !== undefined) {
    state.observe({ event: undefined, data: bare })
    return { error: state.error, ended: false, place: state.place, isRecognised, isBare: true, event }
  }
  const parser = createSseParser((found) => {
    event = found
    state.observe(found)
    isRecognised = errors.isErrorEvent(found)
  })
  parser.push(text)
  parser.end()
  return { error: state.error, ended: state.ended, place: state.place, isRecognised, isBare: false, event }
}

/**
 * The event, unchanged unless it quotes a credential. JSON can spell one differently, as with `\/`; then it is parsed and written anew, or left
 * out where it is no JSON.
 */
function withoutQuotes(bytes: Uint8Array, event: SseEvent | undefined, secrets: readonly string[]): Uint8Array {
  const text = decodeUtf8Lenient(bytes)
  const clean = censored(text, secrets)
  if (clean.includes('\\')) {
    const value = event && tryParseShallow(event.data)
    const plain = value === undefined ? unescaped(clean) : JSON.stringify(value)
    const data = censored(plain, secrets)
    if (data !== plain)
      return event && value !== undefined ? encodeUtf8(eventText({ event: event.event, data })) : NOTHING
  }
  return clean === text ? bytes : encodeUtf8(clean)
}

/** The text with the escapes of JSON that can stand for a letter of a key undone. */
const unescaped = (text: string): string =>
  text.replace(/\\(?:u([0-9a-f]{4})|(["/\\]))/gi, (_, code?: string, character?: string) =>
    code === undefined ? (character ?? '') : String.fromCharCode(Number.parseInt(code, 16)),
  )

function factsOf({ status, message, error }: EmbeddedError): ErrorFacts {
  const { code = 'UPSTREAM_FAILED' } = readMessage({ error })
  return { status, code, message }
}

/**
 * Completes the last event of a stream, which lacks only its blank line. So does an error that is bare JSON, which `state` is shown, as it is no
 * event. Half an event is dropped.
 */
export function closeEvent(rest: Uint8Array, state: StreamState): Uint8Array {
  if (rest.length === 0 || isClosedByReturns(rest)) return rest
  if (rest.length > MAX_EVENT) return NOTHING
  const text = decodeUtf8Lenient(rest)
  const bare = bareJsonIn(text)
  return (bare === undefined ? isEvent(text) : isError(bare, state)) ? concatBytes([rest, encodeUtf8('\n\n')]) : NOTHING
}

/** A name without data is no event. */
function isEvent(text: string): boolean {
  let isWhole = false
  const parser = createSseParser(({ data }) => {
    isWhole = data === '[DONE]' || tryParseJson(data) !== undefined
  })
  parser.push(text)
  parser.end()
  return isWhole
}

function isError(bare: string, state: StreamState): boolean {
  const value = tryParseJson(bare)
  if (!isObject(value) || !value.error) return false
  state.observe({ event: undefined, data: bare })
  return true
}

/** Does it end in two carriage returns? The event was held back, as the last one could have been half of a CRLF. */
const isClosedByReturns = (rest: Uint8Array) => rest.at(-1) === CR && rest.at(-2) === CR

const CR = 0x0d
const LF = 0x0a
const NOTHING = new Uint8Array(0)
