import { isObject, type JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { parseExactly } from '../canonical/exact-json.ts'

/** The response in the last event of a stream, unless that leaves out what was said before. */
export function answerIn(events: readonly SseEvent[]): JsonObject | undefined {
  for (const { event, data } of events.toReversed()) {
    const message = parseExactly(data)
    if (!isObject(message) || !isObject(message.response)) continue
    if (!ENDS.has(String(message.type ?? event))) continue
    const { output } = message.response
    return Array.isArray(output) && output.length > 0 ? message.response : undefined
  }
  return undefined
}

const ENDS: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])
