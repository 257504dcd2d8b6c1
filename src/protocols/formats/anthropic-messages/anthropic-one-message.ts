import { concatBytes, createFinder, decodeUtf8Lenient, encodeUtf8 } from '../../../lib/bytes.ts'
import { isObject, tryParseJson } from '../../../lib/json.ts'
import { createSseParser, formatSseEvent, type SseEvent, splitEvents } from '../../../lib/sse.ts'
import { RESTARTED_MESSAGE } from '../restart-detector.ts'
import { createMessageStarts } from './anthropic-stream-state.ts'

/**
 * Reduces a stream to one message: drops a repeated `message_start`, which makes Anthropic's clients throw, and everything after the end of the
 * message. A message that restarts ends there with an error event. All other events stay unchanged, byte for byte.
 */
export function createMessageFilter(): (events: Uint8Array) => Uint8Array {
  const isRelevant = createFinder(['message_', 'content_block_start"'])
  const trackStart = createMessageStarts()
  let hasStopped = false
  let hasEnded = false

  function keep(bytes: Uint8Array): Uint8Array {
    if (hasEnded) return NO_BYTES
    const event = parseEvent(bytes)
    const message = event && tryParseJson(event.data)
    if (!event || !isObject(message)) return bytes
    const type = message.type ?? event.event
    hasStopped ||= type === 'message_stop'
    switch (trackStart(type, message)) {
      case 'repeated':
        return NO_BYTES
      case 'restart':
        hasEnded = true
        return ENDED_EARLY_EVENT
      case 'next':
        hasEnded = true
        return hasStopped ? NO_BYTES : STOP_EVENT
      default:
        return bytes
    }
  }

  return (events) => {
    if (hasEnded) return NO_BYTES
    if (!isRelevant(events)) return events
    const originals = splitEvents(events)
    const results = originals.map(keep)
    return results.every((bytes, index) => bytes === originals[index]) ? events : concatBytes(results)
  }
}

function parseEvent(bytes: Uint8Array): SseEvent | undefined {
  let parsed: SseEvent | undefined
  const parser = createSseParser((event) => {
    parsed = event
  })
  parser.push(decodeUtf8Lenient(bytes))
  parser.end()
  return parsed
}

const STOP_EVENT = encodeUtf8(formatSseEvent({ event: 'message_stop', data: '{"type":"message_stop"}' }))
/** The error event that `messageErrors` would write. That module isn't loaded until the first error. */
const ENDED_EARLY_EVENT = encodeUtf8(
  formatSseEvent({
    event: 'error',
    data: JSON.stringify({ type: 'error', error: { type: 'api_error', message: RESTARTED_MESSAGE }, request_id: null }),
  }),
)
const NO_BYTES = new Uint8Array(0)
