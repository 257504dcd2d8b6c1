import { encodeUtf8 } from './bytes.ts'
import type { ByteStream } from './exchange.ts'
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-scan.ts'
import { eventTooLong, MAX_EVENT, withoutLineSeparators } from './sse.ts'

/**
 * Turns a stream that a provider has sent as a JSON array into server-sent events, each object as soon as it is complete. Text after the
 * array, and an incomplete object at its end, are dropped. Linear in the length of the input. `next` rejects with `UPSTREAM_INVALID` when an
 * object is longer than 16 MiB.
 */
export function arrayEvents(array: ByteStream): ByteStream {
  const decoder = new TextDecoder()
  const split = createSplitter()

  async function next(): Promise<Uint8Array | undefined> {
    for (let chunk = await array.next(); chunk; chunk = await array.next()) {
      const events = split(decoder.decode(chunk, { stream: true }))
      if (events !== '') return encodeUtf8(events)
    }
    return undefined
  }

  return { next, cancel: array.cancel }
}

/** Makes a function that takes the text in pieces and returns the events that each completes. */
function createSplitter(): (text: string) => string {
  let depth = 0
  let isString = false
  let isEscaped = false
  let isOver = false
  let pieces: string[] = [] // the pieces of the object that is not complete yet
  let size = 0

  return (text) => {
    let events = ''
    let start = pieces.length > 0 ? 0 : -1
    for (let at = 0; at < text.length && !isOver; at++) {
      const code = text.charCodeAt(at)
      if (isString) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isString = false
      } else if (code === QUOTE) isString = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (depth === 1 && code === OPEN_BRACE) start = at
        depth++
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        depth--
        isOver = depth <= 0
        if (depth === 1 && start >= 0) {
          events += eventOf(pieces.join('') + text.slice(start, at + 1))
          pieces = []
          size = 0
          start = -1
        }
      }
    }
    if (start >= 0 && !isOver) keep(text.slice(start))
    return events
  }

  function keep(piece: string) {
    pieces.push(piece)
    size += piece.length
    if (size > MAX_EVENT) throw eventTooLong()
  }
}

/**
 * A JSON text as an event. Line breaks in it are between tokens, never inside a string; they are replaced, since they would end the line of
 * the event.
 */
export const eventOf = (json: string): string => `data: ${withoutLineSeparators(json.replace(/[\r\n]+/g, ' '))}\n\n`
