import { type GatewayError, gatewayError } from '../errors.ts'

/** A server-sent event; several data lines are joined by newlines. */
export interface SseEvent {
  event: string | undefined
  data: string
}

/** The text of an event in a stream; its data must be one line. */
export const eventText = ({ event, data }: SseEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`

/** Longest event that is kept while it is incomplete, in characters or bytes. */
export const MAX_EVENT = 16 * 1024 * 1024

/**
 * Parses events from text that arrives in pieces: accepts every line ending, also split over two pieces, and skips comments and a byte
 * order mark. With `bareJson`, JSON that stands alone after the first event is one too. Linear in the length of the input. Throws
 * `UPSTREAM_INVALID` when an event is longer than 16 MiB.
 */
export function createSseParser(
  onEvent: (event: SseEvent) => void,
  { bareJson = false } = {},
): { push(text: string): void; end(): void } {
  let pieces: string[] = [] // the pieces of the line that is not complete yet
  let pending = 0
  let afterCr = false
  let first = true
  let event: string | undefined
  let data: string | undefined
  let mayBeBare = false
  let isBare = false // is the current line JSON without a field name?

  function push(text: string) {
    let at = 0
    let cr = text.indexOf('\r') // searched again only after the scan has passed it
    if (first && text.length > 0) {
      first = false
      if (text.charCodeAt(0) === 0xfeff) at = 1
    }
    while (at < text.length) {
      if (afterCr) {
        afterCr = false
        if (text[at] === '\n') {
          at++
          continue
        }
      }
      if (cr !== -1 && cr < at) cr = text.indexOf('\r', at)
      const lf = text.indexOf('\n', at)
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      if (end === -1) return keep(text.slice(at))
      if (pieces.length === 0) line(text, at, end)
      else joinedLine(text.slice(at, end))
      afterCr = end === cr
      at = end + 1
    }
  }

  function keep(piece: string) {
    pieces.push(` ${piece}`.slice(1)) // a copy, since the piece would keep the whole chunk in memory
    pending += piece.length
    if (pending + (data?.length ?? 0) > MAX_EVENT) throw eventTooLong()
  }

  /** The whole line, whose beginning arrived in earlier pieces. */
  function joinedLine(rest: string) {
    const whole = pieces.join('') + rest
    pieces = []
    pending = 0
    line(whole, 0, whole.length)
  }

  /** Handles the line between two positions; only its value is copied. */
  function line(text: string, from: number, end: number) {
    if (from === end) return dispatch()
    if (mayBeBare && text[from] === '{') isBare = true
    if (isBare) add(text.slice(from, end))
    else if (isField('data', text, from, end)) add(valueBehind(text, from + 'data'.length, end))
    else if (isField('event', text, from, end)) event = valueBehind(text, from + 'event'.length, end)
  }

  function add(value: string) {
    data = data === undefined ? value : `${data}\n${value}`
    if (data.length > MAX_EVENT) throw eventTooLong()
  }

  function dispatch() {
    isBare = false
    if (data !== undefined) {
      mayBeBare = bareJson
      onEvent({ event, data })
    }
    event = data = undefined
  }

  return {
    push,
    /** Ends the input: an event without its closing blank line counts too. */
    end() {
      if (pieces.length > 0) joinedLine('')
      dispatch()
    },
  }
}

/** Parses events from the bytes of a stream, which may be cut anywhere. Throws `UPSTREAM_INVALID` on invalid input. */
export interface StreamParser {
  push(chunk: Uint8Array): void
  /** Ends the input. A last event that is not finished counts, where the framing allows such an event. */
  end(): void
}

/** How a stream is divided into events. */
export type StreamFraming = (onEvent: (event: SseEvent) => void) => StreamParser

/** Divides a stream into server-sent events, as nearly all streams are. Google and others report some errors by JSON without a field name. */
export const sseFraming: StreamFraming = (onEvent) => {
  const parser = createSseParser(onEvent, { bareJson: true })
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // the parser skips the byte order mark itself
  return {
    push: (chunk) => parser.push(decoder.decode(chunk, endsWhole(chunk) ? WHOLE : PART)),
    end() {
      parser.push(decoder.decode())
      parser.end()
    },
  }
}

/**
 * Does the chunk end with an ASCII character? Then it ends with a whole character, and runtimes decode it much faster without the option
 * `stream`.
 */
const endsWhole = (chunk: Uint8Array) => (chunk[chunk.length - 1] ?? 0) < 0x80

const WHOLE = { stream: false }
const PART = { stream: true }

/** The `UPSTREAM_INVALID` for an event that is too long. */
export const eventTooLong = (): GatewayError =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an event longer than 16 MiB.' })

function isField(name: string, text: string, from: number, end: number): boolean {
  const after = from + name.length
  return text.startsWith(name, from) && (after === end || text[after] === ':')
}

/** The text after the colon, without one leading space; the empty text where there is no colon. */
function valueBehind(text: string, colon: number, end: number): string {
  return text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1, end)
}

/** Divides the bytes of complete events into those of each event, its blank line included. */
export function splitEvents(whole: Uint8Array): Uint8Array[] {
  const events: Uint8Array[] = []
  let start = 0
  for (const { index, 0: blank } of byteByByte.decode(whole).matchAll(EVENT_END)) {
    const end = index + blank.length
    events.push(whole.subarray(start, end))
    start = end
  }
  return events
}

/** Decodes each byte as one character, so that indexes in the text are indexes in the bytes. */
const byteByByte = new TextDecoder('latin1')

const EVENT_END = /(?:\r\n|\n|\r(?!\n)){2}/g

/** The text, if it is JSON that stands in the place of an event; otherwise `undefined`. */
export const bareJsonIn = (text: string): string | undefined =>
  text.trimStart().startsWith('{') ? text.split(FIELD, 1)[0] : undefined

const FIELD = /[\r\n](?:data|event|id|retry)?:/

/**
 * JSON with the line separators of Unicode as escapes: it means the same, but many readers of event streams, those of Python's httpx among
 * them, end a line at them and lose the rest of the event.
 */
export const withoutLineSeparators = (json: string): string =>
  SEPARATORS.test(json) ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : json

const SEPARATORS = /[\u2028\u2029]/
