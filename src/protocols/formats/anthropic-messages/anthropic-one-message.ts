import { concatBytes, createFinder, decodeUtf8Lenient, encodeUtf8 } from '../../../lib/bytes.ts'
import { isObject, tryParseJson } from '../../../lib/json.ts'
import { createSseParser, formatSseEvent, type SseEvent, splitEvents } from '../../../lib/sse.ts'
import { RESTARTED_MESSAGE } from '../restart-detector.ts'
import { createRestartTracker } from './anthropic-stream-state.ts'

/**
 * Reduces a stream to one message: drops a repeated `message_start`, which makes Anthropic's clients throw, and everything after the end of the
 * message. A message that restarts ends there with an error event. All other events stay unchanged, byte for byte.
 */
export function createMessageFilter(): (events: Uint8Array) => Uint8Array {
  const isRelevant = createFinder(['message_', 'content_block_start"'])
  const trackRestart = createRestartTracker()
  let hasSentStop = false
  let hasEnded = false

  function filterEvent(bytes: Uint8Array): Uint8Array {
    if (hasEnded) return NO_BYTES
    const event = parseEvent(bytes)
    const message = event && tryParseJson(event.data)
    if (!event || !isObject(message)) return bytes
    const type = message.type ?? event.event
    hasSentStop ||= type === 'message_stop'
    switch (trackRestart(type, message)) {
      case 'repeated':
        return NO_BYTES
      case 'restart':
        hasEnded = true
        return RESTART_ERROR_EVENT
      case 'next':
        hasEnded = true
        return hasSentStop ? NO_BYTES : MESSAGE_STOP_EVENT
      default:
        return bytes
    }
  }

  return (events) => {
    if (hasEnded) return NO_BYTES
    if (!isRelevant(events)) return events
    const originalEvents = splitEvents(events)
    const filteredEvents = originalEvents.map(filterEvent)
    return filteredEvents.every((bytes, index) => bytes === originalEvents[index])
      ? events
      : concatBytes(filteredEvents)
  }
}

function parseEvent(bytes: Uint8Array): SseEvent | undefined {
  let parsedEvent: SseEvent | undefined
  const parser = createSseParser((event) => {
    parsedEvent = event
  })
  parser.push(decodeUtf8Lenient(bytes))
  parser.end()
  return parsedEvent
}

const MESSAGE_STOP_EVENT = encodeUtf8(formatSseEvent({ event: 'message_stop', data: '{"type":"message_stop"}' }))
/** The error event that `anthropicErrors` would write. That module isn't loaded until the first error. */
const RESTART_ERROR_EVENT = encodeUtf8(
  formatSseEvent({
    event: 'error',
    data: JSON.stringify({ type: 'error', error: { type: 'api_error', message: RESTARTED_MESSAGE }, request_id: null }),
  }),
)
const NO_BYTES = new Uint8Array(0)
