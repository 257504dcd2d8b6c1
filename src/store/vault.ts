import { gatewayError } from '../errors.ts'
import { decodeUtf8, encodeUtf8 } from '../lib/bytes.ts'
import { fromBase64, randomBytes, toBase64, toHex } from '../lib/encoding.ts'

/** Encrypts ("seals") credentials at rest, and computes the digests by which client keys are looked up. */
export interface Vault {
  /** The storage key of a client key: HMAC-SHA-256, in hex. */
  digest(credential: string): Promise<string>
  /**
   * Encrypts with AES-256-GCM. `place` (collection, id, field) is authenticated with the result, so that sealed values cannot be swapped.
   */
  seal(place: string, plain: string): Promise<string>
  /** Decrypts. Rejects with `STORAGE_FAILED` when the value was changed, moved, or encrypted with another key. */
  open(place: string, sealed: string): Promise<string>
  /** The HMAC-SHA-256 of a text at a place, in base64: the proof that it was written with the secret. */
  sign(place: string, text: string): Promise<string>
  /** Is `mac` the one that `sign` makes of the text at that place? Anything that is not a string is not. */
  verify(place: string, text: string, mac: unknown): Promise<boolean>
}

/** Of the sealed values: part of what each is bound to. */
const SEAL_SCHEMA = 1
/** Two keys: one encrypts and proves, the other looks up. */
export const VAULT_KEY_BYTES = 2 * 32

/** The vault of these `VAULT_KEY_BYTES` random bytes. */
export async function createVault(keys: Uint8Array<ArrayBuffer>): Promise<Vault> {
  const half = VAULT_KEY_BYTES / 2
  const [data, lookup] = [keys.slice(0, half), keys.slice(half)]
  const dataKey = await crypto.subtle.importKey('raw', data, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const lookupKey = await crypto.subtle.importKey('raw', lookup, HMAC, false, ['sign'])
  const proofKey = await proofKeyFrom(data)

  return {
    digest: async (credential) =>
      toHex(new Uint8Array(await crypto.subtle.sign('HMAC', lookupKey, encodeUtf8(credential)))),
    seal: (place, plain) => encrypt(dataKey, place, encodeUtf8(plain)),
    open: async (place, sealed) => {
      try {
        return decodeUtf8(await decrypt(dataKey, place, sealed))
      } catch (cause) {
        throw gatewayError('STORAGE_FAILED', {
          message: `A sealed value in the storage was changed or moved: ${place}`,
          cause,
        })
      }
    },
    sign: async (place, text) =>
      toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', proofKey, provenText(place, text)))),
    verify: async (place, text, mac) =>
      typeof mac === 'string' &&
      MAC_SHAPE.test(mac) &&
      crypto.subtle.verify('HMAC', proofKey, fromBase64(mac), provenText(place, text)),
  }
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const
const MAC_SHAPE = /^[A-Za-z0-9+/]{43}=$/

/** A key of its own, so that no proof is ever of use as anything else. */
async function proofKeyFrom(data: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', data, 'HKDF', false, ['deriveKey'])
  const info = encodeUtf8('signalbox record')
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info }
  return crypto.subtle.deriveKey(hkdf, material, { ...HMAC, length: 256 }, false, ['sign', 'verify'])
}

/** A JSON list, since no place and text may be taken for another place and text. */
const provenText = (place: string, text: string) => encodeUtf8(JSON.stringify([place, text]))

/** Encrypts for a place: base64 of a random 12-byte IV and the ciphertext with its tag. */
export async function encrypt(key: CryptoKey, place: string, plain: Uint8Array<ArrayBuffer>): Promise<string> {
  const iv = randomBytes(12)
  const cipher = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: boundTo(place) }, key, plain)
  return `${toBase64(iv)}.${toBase64(new Uint8Array(cipher))}`
}

/** Decrypts what `encrypt` made for the same place; rejects otherwise. */
export async function decrypt(key: CryptoKey, place: string, sealed: string): Promise<Uint8Array<ArrayBuffer>> {
  const [iv = '', cipher = ''] = sealed.split('.')
  const algorithm = { name: 'AES-GCM', iv: fromBase64(iv), additionalData: boundTo(place) }
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, fromBase64(cipher)))
}

const boundTo = (place: string) => encodeUtf8(`${SEAL_SCHEMA}:${place}`)
