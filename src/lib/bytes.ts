import type { ByteStream } from './exchange.ts'

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true })
const lenientDecoder = new TextDecoder()

/** Half a surrogate pair becomes U+FFFD. */
export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)

/** Throws a TypeError on bytes that are not UTF-8; a byte order mark is dropped. */
export const decodeUtf8 = (bytes: Uint8Array): string => strictDecoder.decode(bytes)

/** Replaces what is not UTF-8 instead of throwing. */
export const decodeUtf8Lenient = (bytes: Uint8Array): string => lenientDecoder.decode(bytes)

/** A single part comes back as it is, not copied. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first && parts.length === 1) return first
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Reads a stream to its end. Rejects with what `tooLarge` makes, and cancels the source, when `maxBytes` is passed. */
export function readAll(
  stream: ByteStream,
  maxBytes: number,
  tooLarge: (maxBytes: number) => Error,
): Promise<Uint8Array> {
  const whole = stream.whole?.()
  if (!whole) return readChunks(stream, maxBytes, tooLarge)
  return whole.then((bytes) => checkSize(bytes, maxBytes, tooLarge))
}

/** The bytes. Throws what `tooLarge` makes when there are more than `maxBytes`. */
export function checkSize(bytes: Uint8Array, maxBytes: number, tooLarge: (maxBytes: number) => Error): Uint8Array {
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

async function readChunks(
  stream: ByteStream,
  maxBytes: number,
  tooLarge: (maxBytes: number) => Error,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for (let chunk = await stream.next(); chunk; chunk = await stream.next()) {
    size += chunk.length
    if (size > maxBytes) {
      const error = tooLarge(maxBytes)
      stream.cancel(error)
      throw error
    }
    parts.push(chunk)
  }
  return concatBytes(parts)
}
