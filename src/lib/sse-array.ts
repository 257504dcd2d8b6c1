import { encodeUtf8 } from './bytes.ts'
import type { ByteStream } from './exchange.ts'
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-scan.ts'
import { createEventTooLongError, escapeLineSeparators, MAX_EVENT_SIZE } from './sse.ts'

/**
 * Converts a JSON array that a provider streams to server-sent events, one for each object, as soon as the object is complete. Drops text after the
 * array, and an incomplete object at its end. Runs in linear time. `next` rejects with `UPSTREAM_INVALID` if an object exceeds 16 MiB.
 */
export function convertArrayToEvents(array: ByteStream): ByteStream {
  const decoder = new TextDecoder()
  const extractEvents = createEventExtractor()

  async function next(): Promise<Uint8Array | undefined> {
    for (let chunk = await array.next(); chunk; chunk = await array.next()) {
      const events = extractEvents(decoder.decode(chunk, { stream: true }))
      if (events !== '') return encodeUtf8(events)
    }
    return undefined
  }

  return { next, cancel: (reason) => array.cancel(reason) }
}

/** Creates a function that takes chunks of text and returns the events that each chunk completes. */
function createEventExtractor(): (text: string) => string {
  let depth = 0
  let isInString = false
  let isEscaped = false
  let hasEnded = false
  let fragments: string[] = [] // of the incomplete object
  let size = 0

  return (text) => {
    let events = ''
    let start = fragments.length > 0 ? 0 : -1
    for (let index = 0; index < text.length && !hasEnded; index++) {
      const code = text.charCodeAt(index)
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (code === BACKSLASH) isEscaped = true
        else if (code === QUOTE) isInString = false
      } else if (code === QUOTE) isInString = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
        if (depth === 1 && code === OPEN_BRACE) start = index
        depth++
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        depth--
        hasEnded = depth <= 0
        if (depth === 1 && start >= 0) {
          events += formatDataEvent(fragments.join('') + text.slice(start, index + 1))
          fragments = []
          size = 0
          start = -1
        }
      }
    }
    if (start >= 0 && !hasEnded) bufferFragment(text.slice(start))
    return events
  }

  function bufferFragment(fragment: string) {
    fragments.push(fragment)
    size += fragment.length
    if (size > MAX_EVENT_SIZE) throw createEventTooLongError()
  }
}

/** Formats JSON as an event. Replaces line breaks, which only occur between tokens, because they would end the event's line. */
export const formatDataEvent = (json: string): string =>
  `data: ${escapeLineSeparators(json.replace(/[\r\n]+/g, ' '))}\n\n`
