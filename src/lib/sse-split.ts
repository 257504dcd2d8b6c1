import { concatBytes } from './bytes.ts'
import { createEventTooLongError, MAX_EVENT_SIZE } from './sse.ts'

/** Regroups the bytes of an event stream so each chunk ends with an event. */
export interface EventSplitter {
  /** Returns the events that this chunk completes, if any. Throws `UPSTREAM_INVALID` if an event exceeds 16 MiB. */
  split(chunk: Uint8Array): Uint8Array | undefined
  /** Returns the bytes after the last complete event. */
  flush(): Uint8Array
}

export function createEventSplitter(): EventSplitter {
  let bufferedChunks: Uint8Array[] = []
  let size = 0
  let bufferTail: Uint8Array = EMPTY_BYTES // the last few buffered bytes

  function buffer(bytes: Uint8Array) {
    if (bytes.length === 0) return
    bufferedChunks.push(bytes)
    size += bytes.length
    bufferTail =
      bytes.length < TAIL_BYTES ? concatBytes([bufferTail, bytes]).subarray(-TAIL_BYTES) : bytes.subarray(-TAIL_BYTES)
    if (size > MAX_EVENT_SIZE) throw createEventTooLongError()
  }

  function flush() {
    const bytes = concatBytes(bufferedChunks)
    bufferedChunks = []
    size = 0
    bufferTail = EMPTY_BYTES
    return bytes
  }

  return {
    flush,
    split(chunk) {
      const end = findLastEventEnd(chunk) || findEndAcrossChunks(bufferTail, chunk)
      if (end === undefined) {
        buffer(chunk)
        return undefined
      }
      if (end === chunk.length && size === 0) return chunk
      bufferedChunks.push(chunk.subarray(0, end))
      const completeEvents = flush()
      buffer(new Uint8Array(chunk.subarray(end))) // a copy, because a view would keep the entire chunk in memory
      return completeEvents
    },
  }
}

const EMPTY_BYTES = new Uint8Array(0)
/** The end of an event takes up to four bytes, so up to three of them may precede a chunk. */
const TAIL_BYTES = 3

/**
 * Finds an event's end that starts in `bufferTail`. Returns the index after it in `chunk`: 0 if it is all in `bufferTail` and the chunk only confirms
 * it.
 */
function findEndAcrossChunks(bufferTail: Uint8Array, chunk: Uint8Array): number | undefined {
  if (bufferTail.length === 0) return undefined
  const end = findLastEventEnd(concatBytes([bufferTail, chunk.subarray(0, TAIL_BYTES)]))
  return end < bufferTail.length ? undefined : end - bufferTail.length
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
