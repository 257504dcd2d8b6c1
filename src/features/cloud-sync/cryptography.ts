import { decodeUtf8, encodeUtf8, fromBase64, toBase64, toHex } from '../../lib/bytes.ts'
import { decryptBytes, encryptBytes, sha256Hex } from '../../records/keyring.ts'

/*
 * The cloud protocol's cryptography, using only WebCrypto: ECDSA P-256 authenticates a gateway, and ECDH P-256 derives a key per session. Binary
 * values are canonical base64; anything else is rejected, so each byte sequence has only one encoding.
 */

const SIGNING_KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' } as const
const EXCHANGE_ALGORITHM = { name: 'ECDH', namedCurve: 'P-256' } as const

/** A gateway's key pair. The public key is stored in the form in which it is sent. */
export interface GatewayIdentity {
  publicKey: string
  privateKey: CryptoKey
}

/** Creates an identity. The private key is PKCS #8 in base64, to be encrypted for storage. */
export async function createIdentity(): Promise<{ publicKey: string; privateKey: string }> {
  const keyPair = await crypto.subtle.generateKey(SIGNING_KEY_ALGORITHM, true, ['sign', 'verify'])
  const [publicKey, privateKey] = await Promise.all([
    crypto.subtle.exportKey('raw', keyPair.publicKey),
    crypto.subtle.exportKey('pkcs8', keyPair.privateKey),
  ])
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: toBase64(new Uint8Array(privateKey)) }
}

/** Imports a stored identity. Rejects if the private key is invalid. */
export async function importIdentity({
  publicKey,
  privateKey,
}: {
  publicKey: string
  privateKey: string
}): Promise<GatewayIdentity> {
  const importedKey = await crypto.subtle.importKey(
    'pkcs8',
    decodeCanonicalBase64(privateKey),
    SIGNING_KEY_ALGORITHM,
    false,
    ['sign'],
  )
  return { publicKey, privateKey: importedKey }
}

/** Returns a gateway's ID at proxies: the SHA-256 of its public key in hex. */
export const getGatewayId = async (publicKey: string): Promise<string> =>
  toHex(await sha256(decodeCanonicalBase64(publicKey)))

export const signText = async ({ privateKey }: GatewayIdentity, text: string): Promise<string> =>
  toBase64(new Uint8Array(await crypto.subtle.sign(SIGNATURE_ALGORITHM, privateKey, encodeUtf8(text))))

/** Verifies a signature. Returns `false` for malformed values. */
export async function verifySignature(publicKey: string, text: string, signature: string): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('raw', decodeCanonicalBase64(publicKey), SIGNING_KEY_ALGORITHM, false, [
      'verify',
    ])
    return await crypto.subtle.verify(SIGNATURE_ALGORITHM, key, decodeCanonicalBase64(signature), encodeUtf8(text))
  } catch {
    return false
  }
}

/** One side's key pair for a session's key exchange. */
export interface ExchangeKeyPair {
  publicKey: string
  privateKey: CryptoKey
}

export async function createExchangeKeyPair(): Promise<ExchangeKeyPair> {
  const keyPair = await crypto.subtle.generateKey(EXCHANGE_ALGORITHM, false, ['deriveBits'])
  const publicKey = await crypto.subtle.exportKey('raw', keyPair.publicKey)
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: keyPair.privateKey }
}

/** Derives the session's 32-byte key in base64, which is the same on both sides. Rejects if the other public key is invalid. */
export async function deriveSessionSecret(
  keyPair: ExchangeKeyPair,
  peerPublicKey: string,
  challenge: string,
): Promise<string> {
  const peerKey = await crypto.subtle.importKey(
    'raw',
    decodeCanonicalBase64(peerPublicKey),
    EXCHANGE_ALGORITHM,
    false,
    [],
  )
  const sharedBits = await crypto.subtle.deriveBits({ name: 'ECDH', public: peerKey }, keyPair.privateKey, 256)
  const keyMaterial = await crypto.subtle.importKey('raw', sharedBits, 'HKDF', false, ['deriveBits'])
  const info = encodeUtf8('signalbox cloud session')
  const hkdfParams = { name: 'HKDF', hash: 'SHA-256', salt: encodeUtf8(challenge), info }
  return toBase64(new Uint8Array(await crypto.subtle.deriveBits(hkdfParams, keyMaterial, 256)))
}

/** Imports a session's key from its secret. */
export const importSessionKey = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', decodeCanonicalBase64(secret), 'AES-GCM', false, ['encrypt', 'decrypt'])

/** Encrypts a body and binds it to `context`, its place in a session. */
export const encryptBody = (key: CryptoKey, context: string, text: string): Promise<string> =>
  encryptBytes(key, context, encodeUtf8(text))

/** Decrypts a body. Rejects unless it was encrypted with this key and context. */
export const decryptBody = async (key: CryptoKey, context: string, sealed: string): Promise<string> =>
  decodeUtf8(await decryptBytes(key, context, sealed))

/** Returns the SHA-256 of bytes in base64. */
export const digestBytes = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => toBase64(await sha256(bytes))

/** Returns the SHA-256 of a UTF-8 string in base64. */
export const digestText = (text: string): Promise<string> => digestBytes(encodeUtf8(text))

/** Returns the digest that identifies an API key at the proxy: SHA-256 in hex. Keys have 256 random bits, so the digest reveals nothing. */
export const digestKey = (key: string): Promise<string> => sha256Hex(key)

function decodeCanonicalBase64(text: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(text)
  if (toBase64(bytes) !== text) throw new TypeError('This is not canonical base64.')
  return bytes
}

const sha256 = async (bytes: Uint8Array<ArrayBuffer>) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
