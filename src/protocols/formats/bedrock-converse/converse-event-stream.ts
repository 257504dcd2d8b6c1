import { gatewayError } from '../../../errors.ts'
import { crc32, decodeUtf8Lenient } from '../../../lib/bytes.ts'
import { createEventTooLongError, MAX_EVENT_SIZE, type SseEvent, type StreamFraming } from '../../../lib/sse.ts'

/** The length of a prelude, which contains the total length, the header length, and a checksum of both. */
const PRELUDE_BYTES = 12
/** The length of the shortest frame: a prelude and the frame's checksum. */
const MIN_FRAME_BYTES = PRELUDE_BYTES + 4

/**
 * Splits `application/vnd.amazon.eventstream` into frames. Each becomes an event with its type as the name and its payload as the data. Throws
 * `UPSTREAM_INVALID` if a checksum or length is wrong, or if a frame exceeds 16 MiB. Keeps only the incomplete frame in memory.
 */
export const eventStreamFraming: StreamFraming = (onEvent) => {
  const prelude = new Uint8Array(PRELUDE_BYTES)
  let frame: Uint8Array = prelude // the prelude comes first, and states the frame's length
  let filledBytes = 0

  return {
    push(chunk) {
      let offset = 0
      while (offset < chunk.length) {
        const frameBytes = chunk.subarray(offset, offset + frame.length - filledBytes)
        frame.set(frameBytes, filledBytes)
        filledBytes += frameBytes.length
        offset += frameBytes.length
        if (filledBytes < frame.length) return
        if (frame === prelude) {
          frame = new Uint8Array(readLength(prelude))
          frame.set(prelude)
        } else {
          const completeFrame = frame
          frame = prelude
          filledBytes = 0
          onEvent(readEvent(completeFrame))
        }
      }
    },
    end() {}, // an incomplete frame is ignored
  }
}

const readUint32 = (bytes: Uint8Array, offset: number): number => createView(bytes).getUint32(offset)

const createView = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Reads a frame's length. Throws unless its prelude has the right checksum. */
function readLength(prelude: Uint8Array): number {
  if (crc32(prelude.subarray(0, 8)) !== readUint32(prelude, 8)) throw createStreamError()
  const totalBytes = readUint32(prelude, 0)
  if (totalBytes > MAX_EVENT_SIZE) throw createEventTooLongError()
  if (totalBytes < MIN_FRAME_BYTES + readUint32(prelude, 4)) throw createStreamError()
  return totalBytes
}

function readEvent(frame: Uint8Array): SseEvent {
  const checksumOffset = frame.length - 4
  if (crc32(frame.subarray(0, checksumOffset)) !== readUint32(frame, checksumOffset)) throw createStreamError()
  const payloadStart = PRELUDE_BYTES + readUint32(frame, 4)
  const headers = readHeaders(frame.subarray(PRELUDE_BYTES, payloadStart))
  const data = decodeUtf8Lenient(frame.subarray(payloadStart, checksumOffset))
  switch (headers.get(':message-type')) {
    case 'exception':
      return { event: headers.get(':exception-type'), data }
    case 'error': {
      const [code, message] = [headers.get(':error-code'), headers.get(':error-message')]
      return { event: code ?? 'internalServerException', data: JSON.stringify({ message }) }
    }
    default:
      return { event: headers.get(':event-type'), data }
  }
}

/** The sizes of header values by type. Strings and byte arrays contain their own length. */
const SIZE_BY_TYPE = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]
const STRING_TYPE = 7

function readHeaders(bytes: Uint8Array): Map<string, string> {
  const headers = new Map<string, string>()
  const view = createView(bytes)
  try {
    for (let offset = 0; offset < bytes.length; ) {
      const nameEnd = offset + 1 + view.getUint8(offset)
      const type = view.getUint8(nameEnd)
      const size = SIZE_BY_TYPE[type] ?? view.getUint16(nameEnd + 1)
      const valueStart = nameEnd + (SIZE_BY_TYPE[type] === undefined ? 3 : 1)
      if (type >= SIZE_BY_TYPE.length || valueStart + size > bytes.length) throw createStreamError()
      if (type === STRING_TYPE)
        headers.set(
          decodeUtf8Lenient(bytes.subarray(offset + 1, nameEnd)),
          decodeUtf8Lenient(bytes.subarray(valueStart, valueStart + size)),
        )
      offset = valueStart + size
    }
  } catch {
    throw createStreamError() // a length in the frame points past its end
  }
  return headers
}

const createStreamError = () =>
  gatewayError('UPSTREAM_INVALID', { message: 'The provider sent a corrupt event stream.' })
