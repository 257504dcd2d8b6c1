import { concatBytes } from './bytes.ts'
import { createEventTooLongError, MAX_EVENT_SIZE } from './sse.ts'

/** Regroups the bytes of an event stream so each chunk ends with an event. */
export interface EventSplitter {
  /** Returns the events that this chunk completes, if any. Throws `UPSTREAM_INVALID` if an event exceeds 16 MiB. */
  take(chunk: Uint8Array): Uint8Array | undefined
  /** Returns the bytes after the last complete event. */
  rest(): Uint8Array
}

export function createEventSplitter(): EventSplitter {
  let pending: Uint8Array[] = []
  let size = 0
  let seam: Uint8Array = EMPTY_BYTES // the last few held bytes

  function hold(bytes: Uint8Array) {
    if (bytes.length === 0) return
    pending.push(bytes)
    size += bytes.length
    seam = bytes.length < SEAM_BYTES ? concatBytes([seam, bytes]).subarray(-SEAM_BYTES) : bytes.subarray(-SEAM_BYTES)
    if (size > MAX_EVENT_SIZE) throw createEventTooLongError()
  }

  function rest() {
    const bytes = concatBytes(pending)
    pending = []
    size = 0
    seam = EMPTY_BYTES
    return bytes
  }

  return {
    rest,
    take(chunk) {
      const end = findLastEventEnd(chunk) || findEndAcross(seam, chunk)
      if (end === undefined) {
        hold(chunk)
        return undefined
      }
      if (end === chunk.length && size === 0) return chunk
      pending.push(chunk.subarray(0, end))
      const completeEvents = rest()
      hold(new Uint8Array(chunk.subarray(end))) // a copy, because a view would keep the entire chunk in memory
      return completeEvents
    },
  }
}

const EMPTY_BYTES = new Uint8Array(0)
/** The end of an event takes up to four bytes, so up to three of them may precede a chunk. */
const SEAM_BYTES = 3

/** Finds an event's end that starts in `seam`. Returns the index after it in `chunk`: 0 if it is all in `seam` and the chunk only confirms it. */
function findEndAcross(seam: Uint8Array, chunk: Uint8Array): number | undefined {
  if (seam.length === 0) return undefined
  const end = findLastEventEnd(concatBytes([seam, chunk.subarray(0, SEAM_BYTES)]))
  return end < seam.length ? undefined : end - seam.length
}

/** Returns the index after the last complete event, or 0. */
function findLastEventEnd(bytes: Uint8Array): number {
  for (let index = bytes.lastIndexOf(LF); index > 0; index = bytes.lastIndexOf(LF, index - 1)) {
    const previousByte = bytes[index - 1]
    if (previousByte === LF || (previousByte === CR && (bytes[index - 2] === LF || bytes[index - 2] === CR)))
      return index + 1
  }
  return findLoneCrEventEnd(bytes)
}

/** Like `findLastEventEnd`, for streams whose lines end with a lone CR. Ignores a CR at the very end, because it may be half of a CRLF. */
function findLoneCrEventEnd(bytes: Uint8Array): number {
  if (bytes.includes(LF)) return 0
  for (let index = bytes.lastIndexOf(CR, bytes.length - 2); index > 0; index = bytes.lastIndexOf(CR, index - 1)) {
    if (bytes[index - 1] === CR) return index + 1
  }
  return 0
}

const LF = 0x0a
const CR = 0x0d
