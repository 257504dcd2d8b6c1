import { type GatewayError, gatewayError } from '../errors.ts'
import { encodeUtf8, randomBytes, toBase64Url, toHex } from '../lib/bytes.ts'
import type { PresentedKey } from './keyring.ts'
import { pausedGroup } from './known-groups.ts'

const PATTERN = /^sbx_([A-Za-z0-9_-]{43})([0-9a-f]{8})$/

/** The prefix of admin tokens is not one of client keys. */
const BROUGHT = /^sbx_(?!admin_)[A-Za-z0-9_-]{32,196}$/

/** A new client key: `sbx_`, 256 random bits in base64url, and a checksum, so that a mistyped key is recognised without a look-up. */
export function mintClientKey(): string {
  const random = toBase64Url(randomBytes(32))
  return `sbx_${random}${checksum(random)}`
}

/**
 * Does this credential have the form of a client key: one that was made here, with a correct checksum, or one that a host has brought? The
 * form of both is known to what keeps secrets out of logs, and spares other credentials a look-up.
 */
export function isClientKey(credential: string): boolean {
  const [, random, sum] = PATTERN.exec(credential) ?? []
  return random === undefined ? BROUGHT.test(credential) : checksum(random) === sum
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

/** Why a known key is refused at this time (epoch ms); `undefined` when it is accepted. */
export function refusalOfKey({ isActive, group, expiresAt }: PresentedKey, now: number): GatewayError | undefined {
  if (isActive === false) return gatewayError('KEY_PAUSED')
  if (group?.isActive === false) return pausedGroup()
  if (expiresAt === undefined || now < Date.parse(expiresAt)) return undefined
  return gatewayError('KEY_EXPIRED', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
}
