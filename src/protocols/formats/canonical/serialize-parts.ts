import type { StreamEvent } from './canonical-stream.ts'

/** Emits one part at a time and buffers other parts' events, for formats that don't support overlapping parts. */
export function serializeParts(emit: (event: StreamEvent) => void): (event: StreamEvent) => void {
  let currentKey: number | undefined
  const pendingEvents = new Map<number, StreamEvent[]>() // events by part key, in the order in which the parts started

  function flushNextPart() {
    currentKey = undefined
    for (const [key, events] of pendingEvents) {
      pendingEvents.delete(key)
      for (const event of events) emit(event)
      if (events.at(-1)?.type === 'part-end') continue
      currentKey = key
      return
    }
  }

  function serialize(event: StreamEvent) {
    if (!('key' in event)) return emit(event)
    if (currentKey === undefined && event.type === 'part-start') currentKey = event.key
    if (event.key === currentKey) {
      emit(event)
      if (event.type === 'part-end') flushNextPart()
    } else if (event.type === 'part-start') pendingEvents.set(event.key, [event])
    else pendingEvents.get(event.key)?.push(event)
  }

  // Checked here, because nearly all events are deltas, and engines inline this short function but not `serialize`.
  return (event) => (event.type === 'part-delta' && event.key === currentKey ? emit(event) : serialize(event))
}
