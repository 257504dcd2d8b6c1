import { type GatewayError, gatewayError } from '../errors.ts'

/** A server-sent event; multiple data lines are joined with newlines. */
export interface SseEvent {
  event: string | undefined
  data: string
}

/** Formats an event; its data must be one line. */
export const formatSseEvent = ({ event, data }: SseEvent): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`

/** The longest event, in characters or bytes. */
export const MAX_EVENT_SIZE = 16 * 1024 * 1024

/**
 * Creates a parser for events in chunks of text. It accepts every line ending, even across chunks, and skips comments and a byte order mark. With
 * `bareJson`, it treats JSON without a field name after the first event as an event. Runs in linear time. Throws `UPSTREAM_INVALID` if an event
 * exceeds 16 MiB.
 */
export function createSseParser(
  onEvent: (event: SseEvent) => void,
  { bareJson = false } = {},
): { push(text: string): void; end(): void } {
  let lineFragments: string[] = [] // of the incomplete line
  let bufferedLength = 0
  let isAfterCr = false
  let isFirstChunk = true
  let event: string | undefined
  let data: string | undefined
  let allowsBareJson = false
  let isBareJson = false // whether the current line is JSON without a field name

  function push(text: string) {
    let position = 0
    let cr = text.indexOf('\r') // cached, and only searched again once the scan has passed it
    if (isFirstChunk && text.length > 0) {
      isFirstChunk = false
      if (text.charCodeAt(0) === 0xfeff) position = 1
    }
    while (position < text.length) {
      if (isAfterCr) {
        isAfterCr = false
        if (text[position] === '\n') {
          position++
          continue
        }
      }
      if (cr !== -1 && cr < position) cr = text.indexOf('\r', position)
      const lf = text.indexOf('\n', position)
      const end = cr === -1 || (lf !== -1 && lf < cr) ? lf : cr
      if (end === -1) return bufferFragment(text.slice(position))
      if (lineFragments.length === 0) parseLine(text, position, end)
      else completeLine(text.slice(position, end))
      isAfterCr = end === cr
      position = end + 1
    }
  }

  function bufferFragment(fragment: string) {
    lineFragments.push(` ${fragment}`.slice(1)) // a copy, because a slice would keep the entire chunk in memory
    bufferedLength += fragment.length
    if (bufferedLength + (data?.length ?? 0) > MAX_EVENT_SIZE) throw createEventTooLongError()
  }

  function completeLine(lineEnd: string) {
    const text = lineFragments.join('') + lineEnd
    lineFragments = []
    bufferedLength = 0
    parseLine(text, 0, text.length)
  }

  /** Handles the line between two indexes. Copies only its value. */
  function parseLine(text: string, start: number, end: number) {
    if (start === end) return dispatch()
    if (allowsBareJson && text[start] === '{') isBareJson = true
    if (isBareJson) appendData(text.slice(start, end))
    else if (isField('data', text, start, end)) appendData(getValueAfter(text, start + 'data'.length, end))
    else if (isField('event', text, start, end)) event = getValueAfter(text, start + 'event'.length, end)
  }

  function appendData(value: string) {
    data = data === undefined ? value : `${data}\n${value}`
    if (data.length > MAX_EVENT_SIZE) throw createEventTooLongError()
  }

  function dispatch() {
    isBareJson = false
    if (data !== undefined) {
      allowsBareJson = bareJson
      onEvent({ event, data })
    }
    event = data = undefined
  }

  return {
    push,
    /** Ends the input. An event without its final blank line still counts. */
    end() {
      if (lineFragments.length > 0) completeLine('')
      dispatch()
    },
  }
}

/** Parses events from chunks of bytes. Throws `UPSTREAM_INVALID` for invalid input. */
export interface StreamParser {
  push(chunk: Uint8Array): void
  /** Ends the input. An incomplete last event counts if the framing allows it. */
  end(): void
}

/** How a stream is split into events. */
export type StreamFraming = (onEvent: (event: SseEvent) => void) => StreamParser

/** Server-sent events, used by nearly all streams. Google and others report some errors as JSON without a field name. */
export const sseFraming: StreamFraming = (onEvent) => {
  const parser = createSseParser(onEvent, { bareJson: true })
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true }) // the parser skips the byte order mark itself
  return {
    push: (chunk) => parser.push(decoder.decode(chunk, endsWithAscii(chunk) ? NO_STREAMING : STREAMING)),
    end() {
      parser.push(decoder.decode())
      parser.end()
    },
  }
}

/** A chunk that ends with ASCII ends with a complete character. Runtimes decode such chunks much faster without the `stream` option. */
const endsWithAscii = (chunk: Uint8Array) => (chunk[chunk.length - 1] ?? 0) < 0x80

const NO_STREAMING = { stream: false }
const STREAMING = { stream: true }

/** Creates the error for an event that is too long. */
export const createEventTooLongError = (): GatewayError =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an event longer than 16 MiB.' })

function isField(name: string, text: string, start: number, end: number): boolean {
  const nameEnd = start + name.length
  return text.startsWith(name, start) && (nameEnd === end || text[nameEnd] === ':')
}

/** Returns the text after the colon, without one leading space. Empty if there is no colon. */
function getValueAfter(text: string, colon: number, end: number): string {
  return text.slice(text[colon + 1] === ' ' ? colon + 2 : colon + 1, end)
}

/** Splits the bytes of complete events into single events, each with its blank line. */
export function splitEvents(bytes: Uint8Array): Uint8Array[] {
  const events: Uint8Array[] = []
  let start = 0
  for (const { index, 0: blank } of latin1Decoder.decode(bytes).matchAll(EVENT_END_PATTERN)) {
    const end = index + blank.length
    events.push(bytes.subarray(start, end))
    start = end
  }
  return events
}

/** Yields the positions where events end, backward from `maxEnd`. Skips events whose lines end with CR alone. */
export function* findEventEnds(events: Uint8Array, maxEnd: number): Generator<number, void> {
  for (let index = events.lastIndexOf(LF, maxEnd - 1); index > 0; index = events.lastIndexOf(LF, index - 1)) {
    const previousByte = events[index - 1]
    if (previousByte === LF || (previousByte === CR && events[index - 2] === LF)) yield index + 1
  }
}

const LF = 0x0a
const CR = 0x0d

/** Decodes each byte as one character, so indexes in the text are indexes in the bytes. */
const latin1Decoder = new TextDecoder('latin1')

const EVENT_END_PATTERN = /(?:\r\n|\n|\r(?!\n)){2}/g

/** Returns the JSON that a provider sent in place of an event, if any. */
export const findBareJson = (text: string): string | undefined =>
  text.trimStart().startsWith('{') ? text.split(FIELD_PATTERN, 1)[0] : undefined

const FIELD_PATTERN = /[\r\n](?:data|event|id|retry)?:/

/** Escapes Unicode's line separators. Many readers of event streams, such as Python's httpx, end a line there and lose the rest of the event. */
export const escapeLineSeparators = (json: string): string =>
  SEPARATORS_PATTERN.test(json) ? json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029') : json

const SEPARATORS_PATTERN = /[\u2028\u2029]/
