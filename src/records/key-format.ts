import { type GatewayError, gatewayError } from '../errors.ts'
import { encodeUtf8, randomBytes, toBase64Url, toHex } from '../lib/bytes.ts'
import type { ClientKey } from './key-lookup.ts'

const PATTERN = /^sbx_([A-Za-z0-9_-]{43})([0-9a-f]{8})$/

/** Keys that you choose yourself. `sbx_admin_` is the prefix of admin tokens. */
const CUSTOM_PATTERN = /^sbx_(?!admin_)[A-Za-z0-9_-]{32,196}$/

/** Creates a client key: `sbx_`, 256 random bits in base64url, and a checksum that detects typos without a lookup. */
export function mintClientKey(): string {
  const secret = toBase64Url(randomBytes(32))
  return `sbx_${secret}${computeChecksum(secret)}`
}

/**
 * Returns whether a credential has the format of a client key: a generated key with a correct checksum, or a key that you chose. Other credentials
 * need no lookup. The code that keeps secrets out of logs also recognizes both formats.
 */
export function isClientKey(credential: string): boolean {
  const [, secret, checksum] = PATTERN.exec(credential) ?? []
  return secret === undefined ? CUSTOM_PATTERN.test(credential) : computeChecksum(secret) === checksum
}

/** Returns the CRC-32 of a string, in hex. */
function computeChecksum(text: string): string {
  let remainder = 0xffffffff
  for (const byte of encodeUtf8(text)) {
    remainder ^= byte
    for (let bit = 0; bit < 8; bit++) remainder = (remainder >>> 1) ^ (remainder & 1 ? 0xedb88320 : 0)
  }
  const crc = (remainder ^ 0xffffffff) >>> 0
  return toHex(new Uint8Array([crc >>> 24, crc >>> 16, crc >>> 8, crc]))
}

/** Returns why a key is rejected at this time (epoch ms), or `undefined` if it is accepted. */
export function getKeyRejection({ isActive, group, expiresAt }: ClientKey, now: number): GatewayError | undefined {
  if (isActive === false) return gatewayError('KEY_PAUSED')
  if (group?.isActive === false) return createPausedGroupError()
  if (expiresAt === undefined || now < Date.parse(expiresAt)) return undefined
  return gatewayError('KEY_EXPIRED', { headers: { 'www-authenticate': 'Bearer error="invalid_token"' } })
}

/** Creates the error for a key whose group is paused. */
export const createPausedGroupError = (): GatewayError =>
  gatewayError('KEY_PAUSED', {
    message: 'The group of this API key is paused. Ask the operator of this gateway to resume it.',
  })
