import { decodeUtf8, encodeUtf8, fromBase64, toBase64, toHex } from '../lib/bytes.ts'
import { decrypt, encrypt, sha256Hex } from '../store/vault.ts'

/*
 * The cryptography of the cloud protocol, of WebCrypto alone: ECDSA P-256 proves who a gateway is, ECDH P-256 gives each session a key of its own.
 * Binary values are base64, and refused unless they are as `toBase64` writes them: a changed character must never mean the same.
 */

const SIGNING = { name: 'ECDSA', namedCurve: 'P-256' } as const
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const
const EXCHANGE = { name: 'ECDH', namedCurve: 'P-256' } as const

/** A gateway's key pair: the public half as it is sent, and the private half. */
export interface Identity {
  publicKey: string
  privateKey: CryptoKey
}

/** A new identity, with its private half as it is kept: PKCS #8, to be sealed. */
export async function createIdentity(): Promise<{ publicKey: string; privateKey: string }> {
  const pair = await crypto.subtle.generateKey(SIGNING, true, ['sign', 'verify'])
  const [publicKey, privateKey] = await Promise.all([
    crypto.subtle.exportKey('raw', pair.publicKey),
    crypto.subtle.exportKey('pkcs8', pair.privateKey),
  ])
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: toBase64(new Uint8Array(privateKey)) }
}

/** Rejects when the private half is none. */
export async function importIdentity({
  publicKey,
  privateKey,
}: {
  publicKey: string
  privateKey: string
}): Promise<Identity> {
  const imported = await crypto.subtle.importKey('pkcs8', exactBytes(privateKey), SIGNING, false, ['sign'])
  return { publicKey, privateKey: imported }
}

/** The id of a gateway at a proxy: the SHA-256 of its public key, in hex. */
export const gatewayId = async (publicKey: string): Promise<string> => toHex(await sha256(exactBytes(publicKey)))

export const sign = async ({ privateKey }: Identity, text: string): Promise<string> =>
  toBase64(new Uint8Array(await crypto.subtle.sign(SIGNATURE, privateKey, encodeUtf8(text))))

/** Is it the signature of the text by the private half of this public key? Anything malformed is not. */
export async function isSigned(publicKey: string, text: string, signature: string): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('raw', exactBytes(publicKey), SIGNING, false, ['verify'])
    return await crypto.subtle.verify(SIGNATURE, key, exactBytes(signature), encodeUtf8(text))
  } catch {
    return false
  }
}

/** One half of the exchange that gives a session its key. */
export interface ExchangeHalf {
  publicKey: string
  privateKey: CryptoKey
}

export async function createExchangeHalf(): Promise<ExchangeHalf> {
  const pair = await crypto.subtle.generateKey(EXCHANGE, false, ['deriveBits'])
  const publicKey = await crypto.subtle.exportKey('raw', pair.publicKey)
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: pair.privateKey }
}

/** The 32 bytes of the session's key, in base64, the same on both sides. Rejects when the other half is no key. */
export async function sessionSecret(own: ExchangeHalf, other: string, challenge: string): Promise<string> {
  const theirs = await crypto.subtle.importKey('raw', exactBytes(other), EXCHANGE, false, [])
  const shared = await crypto.subtle.deriveBits({ name: 'ECDH', public: theirs }, own.privateKey, 256)
  const material = await crypto.subtle.importKey('raw', shared, 'HKDF', false, ['deriveBits'])
  const info = encodeUtf8('signalbox cloud session')
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: encodeUtf8(challenge), info }
  return toBase64(new Uint8Array(await crypto.subtle.deriveBits(hkdf, material, 256)))
}

/** The key of a session from its secret. */
export const sessionKey = (secret: string): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', exactBytes(secret), 'AES-GCM', false, ['encrypt', 'decrypt'])

/** Seals a body for its place in a session. */
export const sealBody = (key: CryptoKey, place: string, text: string): Promise<string> =>
  encrypt(key, place, encodeUtf8(text))

/** Rejects unless it was sealed with this key for this place. */
export const openBody = async (key: CryptoKey, place: string, sealed: string): Promise<string> =>
  decodeUtf8(await decrypt(key, place, sealed))

/** The SHA-256 of bytes, in base64. */
export const digestOfBytes = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => toBase64(await sha256(bytes))

/** The SHA-256 of a text in UTF-8, in base64. */
export const digestOfText = (text: string): Promise<string> => digestOfBytes(encodeUtf8(text))

/** The digest by which a client key is known at the proxy: SHA-256, in hex. Keys hold 256 random bits, so that it gives nothing away. */
export const digestOfKey = (key: string): Promise<string> => sha256Hex(key)

/** Throws on text that is not base64 as `toBase64` writes it. */
function exactBytes(text: string): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(text)
  if (toBase64(bytes) !== text) throw new TypeError('This is no base64 in its only form.')
  return bytes
}

const sha256 = async (bytes: Uint8Array<ArrayBuffer>) => new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
