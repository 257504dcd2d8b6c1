import { concatBytes, createFinder, decodeUtf8Lenient, encodeUtf8 } from '../../lib/bytes.ts'
import { isObject, tryParseJson } from '../../lib/json.ts'
import { withMember } from '../../lib/json-scan.ts'
import { createSseParser, eventText, type SseEvent, splitEvents } from '../../lib/sse.ts'

/**
 * Makes a function that keeps a stream to one message. It drops a second `message_start`, at which Anthropic's clients throw, gives later
 * blocks that begin with index 0 again the next free index, and drops everything after the end of the message. All other events stay
 * unchanged, byte for byte.
 */
export function createMessageKeeper(): (events: Uint8Array) => Uint8Array {
  const mayMatter = createFinder(['_start"', '_stop"'])
  const places = new Map<number, number>() // index of each block for the client, by the provider's index
  const open = new Set<number>() // blocks, by the provider's index
  let next = 0
  let hasStarted = false
  let hasStopped = false
  let isSpliced = false
  let isOver = false

  function keep(bytes: Uint8Array): Uint8Array {
    if (isOver) return NOTHING
    const event = eventIn(bytes)
    const message = event && tryParseJson(event.data)
    if (!event || !isObject(message)) return bytes
    const { index } = message
    switch (message.type ?? event.event) {
      case 'message_start':
        if (!hasStarted) {
          hasStarted = true
          return bytes
        }
        isSpliced = true
        isOver = hasStopped
        return NOTHING
      case 'content_block_start':
        return typeof index === 'number' ? begin(index, bytes, event) : bytes
      case 'content_block_delta':
        return typeof index === 'number' ? moved(bytes, event, places.get(index) ?? index) : bytes
      case 'content_block_stop':
        if (typeof index !== 'number') return bytes
        open.delete(index)
        return moved(bytes, event, places.get(index) ?? index)
      case 'message_stop':
        hasStopped = true
        return bytes
      default:
        return bytes
    }
  }

  function begin(index: number, bytes: Uint8Array, event: SseEvent): Uint8Array {
    const before = places.get(index) ?? index
    const isTaken = isSpliced && index < next
    const unended = isTaken && open.has(index) ? encodeUtf8(stopOf(before)) : NOTHING
    const place = isTaken ? next : index
    places.set(index, place)
    open.add(index)
    next = Math.max(next, place + 1)
    const start = moved(bytes, event, place)
    return unended.length > 0 ? concatBytes([unended, start]) : start
  }

  return (events) => {
    if (isOver) return NOTHING
    if (!isSpliced && !mayMatter(events)) return events
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

/** The event with another index of its block; unchanged if it has that index already. */
function moved(bytes: Uint8Array, { event, data }: SseEvent, place: number): Uint8Array {
  const message = tryParseJson(data)
  if (isObject(message) && message.index === place) return bytes
  return encodeUtf8(eventText({ event, data: withMember(data, 'index', () => String(place)) }))
}

const stopOf = (index: number) =>
  eventText({ event: 'content_block_stop', data: JSON.stringify({ type: 'content_block_stop', index }) })

const NOTHING = new Uint8Array(0)
