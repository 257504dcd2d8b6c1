import { encodeUtf8 } from '../lib/bytes.ts'
import { randomBytes, toBase64Url, toHex } from '../lib/encoding.ts'

const PATTERN = /^sbx_([A-Za-z0-9_-]{43})([0-9a-f]{8})$/

/** A new client key: `sbx_`, 256 random bits in base64url, and a checksum, so that a mistyped key is recognised without a look-up. */
export function mintClientKey(): string {
  const random = toBase64Url(randomBytes(32))
  return `sbx_${random}${checksum(random)}`
}

/** Does this credential have the form of a client key, with a correct checksum? */
export function isClientKey(credential: string): boolean {
  const [, random, sum] = PATTERN.exec(credential) ?? []
  return random !== undefined && checksum(random) === sum
}

/** CRC-32 in hex. */
function checksum(text: string): string {
  let crc = 0xffffffff
  for (const byte of encodeUtf8(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  const sum = (crc ^ 0xffffffff) >>> 0
  return toHex(new Uint8Array([sum >>> 24, sum >>> 16, sum >>> 8, sum]))
}
