import { gatewayError } from '../errors.ts'
import { concatBytes } from './bytes.ts'
import { MAX_EVENT } from './sse.ts'

/** Regroups the bytes of an event stream so that each piece ends where an event ends. */
export interface EventSplitter {
  /** The whole events that have become complete with this chunk, if any. Throws `UPSTREAM_INVALID` when one event passes 16 MiB. */
  take(chunk: Uint8Array): Uint8Array | undefined
  /** What is left behind the last whole event. */
  rest(): Uint8Array
}

export function createEventSplitter(): EventSplitter {
  let held: Uint8Array[] = []
  let size = 0

  function hold(bytes: Uint8Array) {
    if (bytes.length === 0) return
    held.push(bytes)
    size += bytes.length
    if (size > MAX_EVENT)
      throw gatewayError('UPSTREAM_INVALID', { message: 'The provider sent an event longer than 16 MiB.' })
  }

  function rest() {
    const bytes = concatBytes(held)
    held = []
    size = 0
    return bytes
  }

  return {
    rest,
    take(chunk) {
      const last = held.at(-1)
      const end = endOfLastEvent(chunk) || (last ? endAcross(last, chunk) : 0)
      if (end === 0) {
        hold(chunk)
        return undefined
      }
      if (end === chunk.length && !last) return chunk
      held.push(chunk.subarray(0, end))
      const whole = rest()
      hold(chunk.subarray(end))
      return whole
    },
  }
}

/** An event's end of up to four bytes may lie on both sides of a seam. Index behind it in `chunk`, or 0. */
function endAcross(last: Uint8Array, chunk: Uint8Array): number {
  const before = last.subarray(-3)
  const end = endOfLastEvent(concatBytes([before, chunk.subarray(0, 3)]))
  return Math.max(0, end - before.length)
}

/** Index behind the last event that is complete within `bytes`, or 0 when none is. */
export function endOfLastEvent(bytes: Uint8Array): number {
  for (let at = bytes.lastIndexOf(LF); at > 0; at = bytes.lastIndexOf(LF, at - 1)) {
    const before = bytes[at - 1]
    if (before === LF || (before === CR && (bytes[at - 2] === LF || bytes[at - 2] === CR))) return at + 1
  }
  return endOfLoneCrEvent(bytes)
}

/** Streams that end their lines with a carriage return alone. A return at the very end may be half of a CRLF, so it does not count. */
function endOfLoneCrEvent(bytes: Uint8Array): number {
  if (bytes.includes(LF)) return 0
  for (let at = bytes.lastIndexOf(CR, bytes.length - 2); at > 0; at = bytes.lastIndexOf(CR, at - 1)) {
    if (bytes[at - 1] === CR) return at + 1
  }
  return 0
}

const LF = 0x0a
const CR = 0x0d
