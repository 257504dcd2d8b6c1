import { concatBytes } from './bytes.ts'
import { eventTooLong, MAX_EVENT } from './sse.ts'

/** Regroups the bytes of an event stream so that each piece ends where an event ends. */
export interface EventSplitter {
  /** The events that this chunk completes, if any. Throws `UPSTREAM_INVALID` when an event is longer than 16 MiB. */
  take(chunk: Uint8Array): Uint8Array | undefined
  /** The bytes after the last whole event. */
  rest(): Uint8Array
}

export function createEventSplitter(): EventSplitter {
  let held: Uint8Array[] = []
  let size = 0
  let seam: Uint8Array = NOTHING // the last bytes of the held ones

  function hold(bytes: Uint8Array) {
    if (bytes.length === 0) return
    held.push(bytes)
    size += bytes.length
    seam = bytes.length < SEAM ? concatBytes([seam, bytes]).subarray(-SEAM) : bytes.subarray(-SEAM)
    if (size > MAX_EVENT) throw eventTooLong()
  }

  function rest() {
    const bytes = concatBytes(held)
    held = []
    size = 0
    seam = NOTHING
    return bytes
  }

  return {
    rest,
    take(chunk) {
      const end = endOfLastEvent(chunk) || endAcross(seam, chunk)
      if (end === undefined) {
        hold(chunk)
        return undefined
      }
      if (end === chunk.length && size === 0) return chunk
      held.push(chunk.subarray(0, end))
      const whole = rest()
      hold(new Uint8Array(chunk.subarray(end))) // a copy, since a view would keep the whole chunk in memory
      return whole
    },
  }
}

const NOTHING = new Uint8Array(0)
/** How many bytes of the end of an event, which has up to four, can lie before a chunk. */
const SEAM = 3

/**
 * Finds the end of an event that lies partly in `seam` and partly in `chunk`. Returns the index after it in `chunk`: 0 when the end lies in
 * `seam` alone, which only the chunk shows.
 */
function endAcross(seam: Uint8Array, chunk: Uint8Array): number | undefined {
  if (seam.length === 0) return undefined
  const end = endOfLastEvent(concatBytes([seam, chunk.subarray(0, SEAM)]))
  return end < seam.length ? undefined : end - seam.length
}

/** The index after the last event that is complete within `bytes`, or 0 when none is. */
function endOfLastEvent(bytes: Uint8Array): number {
  for (let at = bytes.lastIndexOf(LF); at > 0; at = bytes.lastIndexOf(LF, at - 1)) {
    const before = bytes[at - 1]
    if (before === LF || (before === CR && (bytes[at - 2] === LF || bytes[at - 2] === CR))) return at + 1
  }
  return endOfLoneCrEvent(bytes)
}

/** The same for streams whose lines end with a lone carriage return. A carriage return at the very end may be half of a CRLF, and does not count. */
function endOfLoneCrEvent(bytes: Uint8Array): number {
  if (bytes.includes(LF)) return 0
  for (let at = bytes.lastIndexOf(CR, bytes.length - 2); at > 0; at = bytes.lastIndexOf(CR, at - 1)) {
    if (bytes[at - 1] === CR) return at + 1
  }
  return 0
}

const LF = 0x0a
const CR = 0x0d
