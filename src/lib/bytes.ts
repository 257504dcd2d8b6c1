import type { ByteStream } from './exchange.ts'

const encoder = new TextEncoder()
const strictDecoder = new TextDecoder('utf-8', { fatal: true })
const lenientDecoder = new TextDecoder()

/** Encodes UTF-8. A lone surrogate becomes U+FFFD. */
export const encodeUtf8 = (text: string): Uint8Array<ArrayBuffer> => encoder.encode(text)

/** Decodes UTF-8 and drops a byte order mark. Throws a TypeError for invalid UTF-8. */
export const decodeUtf8 = (bytes: Uint8Array): string => strictDecoder.decode(bytes)

/** Decodes UTF-8. Replaces invalid bytes with U+FFFD. */
export const decodeUtf8Lenient = (bytes: Uint8Array): string => lenientDecoder.decode(bytes)

/** Concatenates chunks. A single chunk is returned without copying it. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts
  if (first && parts.length === 1) return first
  const joinedBytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0))
  let offset = 0
  for (const part of parts) {
    joinedBytes.set(part, offset)
    offset += part.length
  }
  return joinedBytes
}

/** Reads an entire stream. If it exceeds `maxBytes`, cancels the source and rejects with the error from `createTooLargeError`. */
export function readAll(
  stream: ByteStream,
  maxBytes: number,
  createTooLargeError: (maxBytes: number) => Error,
): Promise<Uint8Array> {
  const completeBytes = stream.whole?.()
  if (!completeBytes) return readChunks(stream, maxBytes, createTooLargeError)
  return completeBytes.then((bytes) => checkSize(bytes, maxBytes, createTooLargeError))
}

/** Returns the bytes. Throws the error from `createTooLargeError` if there are more than `maxBytes`. */
export function checkSize(
  bytes: Uint8Array,
  maxBytes: number,
  createTooLargeError: (maxBytes: number) => Error,
): Uint8Array {
  if (bytes.length > maxBytes) throw createTooLargeError(maxBytes)
  return bytes
}

async function readChunks(
  stream: ByteStream,
  maxBytes: number,
  createTooLargeError: (maxBytes: number) => Error,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let size = 0
  for (let chunk = await stream.next(); chunk; chunk = await stream.next()) {
    size += chunk.length
    if (size > maxBytes) {
      const error = createTooLargeError(maxBytes)
      stream.cancel(error)
      throw error
    }
    parts.push(chunk)
  }
  return concatBytes(parts)
}

/** Returns lowercase hex, two digits per byte. */
export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Encodes base64 in the standard alphabet, with padding. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let index = 0; index < bytes.length; index += CHUNK_SIZE) {
    const binary: string = Reflect.apply(String.fromCharCode, undefined, bytes.subarray(index, index + CHUNK_SIZE))
    text += btoa(binary)
  }
  return text
}

/** Bytes per step: a multiple of three, so only the end is padded, and few enough to pass as arguments on every platform. */
const CHUNK_SIZE = 24_576

/** Encodes base64 in the URL-safe alphabet, without padding. */
export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

/** Decodes base64 in the standard alphabet. Throws for invalid base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index) // `Uint8Array.from` takes six times as long
  return bytes
}

/** Returns random bytes from the platform's cryptographic source; at most 65,536. */
export const randomBytes = (length: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(length))

/** Creates a function that returns whether bytes contain any of the strings. It searches for each string's rarest byte, at native speed. */
export function createFinder(texts: readonly string[]): (bytes: Uint8Array) => boolean {
  const matchers = texts.map(createMatcher)
  return (bytes) => matchers.some((matches) => matches(bytes))
}

function createMatcher(text: string): (haystack: Uint8Array) => boolean {
  const needle = encodeUtf8(text)
  const rarestIndex = findRarestIndex(needle)
  const rarestByte = needle[rarestIndex] ?? 0
  let lastIndex = 0 // where the string was last found; similar chunks have it at the same index
  return (haystack) => {
    if (hasBytesAtIndex(haystack, lastIndex, needle)) return true
    let matchIndex = haystack.indexOf(rarestByte)
    while (matchIndex !== -1) {
      if (hasBytesAtIndex(haystack, matchIndex - rarestIndex, needle)) {
        lastIndex = matchIndex - rarestIndex
        return true
      }
      matchIndex = haystack.indexOf(rarestByte, matchIndex + 1)
    }
    return false
  }
}

function hasBytesAtIndex(haystack: Uint8Array, index: number, bytes: Uint8Array): boolean {
  let matchLength = 0
  while (matchLength < bytes.length && haystack[index + matchLength] === bytes[matchLength]) matchLength++
  return matchLength === bytes.length
}

/** The most frequent bytes of prose and JSON, in order. */
const FREQUENT_BYTES = encodeUtf8(' "etaonirsl:,hducm{}fpgwyb_-v.0123456789k[]\\/\nxTISACEDPRMLNOFHBGUWY')

function findRarestIndex(bytes: Uint8Array): number {
  let rarestIndex = 0
  let highestRarity = -1
  bytes.forEach((byte, index) => {
    const rank = FREQUENT_BYTES.indexOf(byte)
    const rarity = rank === -1 ? FREQUENT_BYTES.length : rank
    if (rarity > highestRarity) {
      highestRarity = rarity
      rarestIndex = index
    }
  })
  return rarestIndex
}

let crcTable: Uint32Array | undefined

/** Computes CRC-32, the checksum of zip, PNG, and Ethernet. */
export function crc32(bytes: Uint8Array): number {
  crcTable ??= Uint32Array.from({ length: 256 }, getCrcRemainder)
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ (crcTable[(crc ^ byte) & 0xff] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}

function getCrcRemainder(_: unknown, byte: number): number {
  let remainder = byte
  for (let bit = 0; bit < 8; bit++) remainder = remainder & 1 ? (remainder >>> 1) ^ 0xedb88320 : remainder >>> 1
  return remainder
}

/** Compares in constant time, so timing doesn't reveal how much of a secret was guessed. */
export function isEqualInConstantTime(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length
  for (const [index, byte] of a.entries()) difference |= byte ^ (b[index] ?? 0)
  return difference === 0
}
