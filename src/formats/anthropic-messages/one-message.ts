import { concatBytes, createFinder, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import { createSseParser, eventText, type SseEvent, splitEvents } from '../../lib/sse.ts'
import { BEGUN_ANEW } from '../answer-starts.ts'
import { messageErrors } from './errors.ts'
import { createMessageStarts } from './stream-state.ts'

/**
 * Makes a stream one message: drops a `message_start` that repeats the first one, at which Anthropic's clients throw, and everything after the
 * end of the message. A message that begins anew ends with an error event there. All other events stay unchanged, byte for byte.
 */
export function createMessageKeeper(): (events: Uint8Array) => Uint8Array {
  const mayMatter = createFinder(['message_', 'content_block_start"'])
  const startOf = createMessageStarts()
  let hasStopped = false
  let isOver = false

  function keep(bytes: Uint8Array): Uint8Array {
    if (isOver) return NOTHING
    const event = eventIn(bytes)
    const message = event && tryParseJson(event.data)
    if (!event || !isObject(message)) return bytes
    const type = message.type ?? event.event
    hasStopped ||= type === 'message_stop'
    switch (startOf(type, message)) {
      case 'repeated':
        return NOTHING
      case 'anew':
        isOver = true
        return encodeUtf8(messageErrors.event({ status: 502, code: 'UPSTREAM_CUT', message: BEGUN_ANEW }))
      case 'next':
        isOver = true
        return hasStopped ? NOTHING : STOP
      default:
        return bytes
    }
  }

  return (events) => {
    if (isOver) return NOTHING
    if (!mayMatter(events)) return events
    const given = splitEvents(events)
    const kept = given.map(keep)
    return kept.every((bytes, at) => bytes === given[at]) ? events : concatBytes(kept)
  }
}

function eventIn(bytes: Uint8Array): SseEvent | undefined {
  let found: SseEvent | undefined
  const parser = createSseParser((event) => {
    found = event
  })
  parser.push(decodeUtf8Lenient(bytes))
  parser.end()
  return found
}

const STOP = encodeUtf8(eventText({ event: 'message_stop', data: '{"type":"message_stop"}' }))
const NOTHING = new Uint8Array(0)
