import { gatewayError } from '../errors.ts'
import { decodeUtf8, encodeUtf8, fromBase64, randomBytes, toBase64, toHex } from '../lib/bytes.ts'
import { formerKeyFields } from '../types/records/former-keys.ts'
import { groupFields } from '../types/records/groups.ts'
import { keyFields } from '../types/records/keys.ts'
import { settingsFields } from '../types/records/settings.ts'
import type { FormerKeyRecord, GroupRecord, KeyRecord } from './collections.ts'
import { createProofs } from './proofs.ts'

/** Encrypts ("seals") credentials at rest, and computes the digests by which client keys are looked up. */
export interface Vault {
  /** The storage key of a client key: HMAC-SHA-256, in hex. */
  digest(credential: string): Promise<string>
  /**
   * The storage key of a client key of which only the SHA-256 is known, in hex. Where the vault files all keys by their SHA-256, it is that of
   * `digest`; elsewhere no credential opens what lies under it.
   */
  digestBySha256(sha256: string): Promise<string>
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

/**
 * Cryptography that a platform has besides WebCrypto and that does one small job in place. A job of WebCrypto goes through a thread, which
 * takes ten times as long; with 100,000 keys that is seconds.
 */
export interface CryptoInPlace {
  /** Of an HMAC-SHA-256 key: is `mac` the code of the text? */
  verifier(key: Uint8Array): (mac: Uint8Array, text: Uint8Array) => boolean
  /** Of an AES-256-GCM key: decrypts what ends with its tag; throws as WebCrypto rejects. */
  decrypter(key: Uint8Array): Decrypt<Uint8Array>
}

/** Decrypts with one key. */
type Decrypt<Plain> = (
  iv: Uint8Array<ArrayBuffer>,
  additionalData: Uint8Array<ArrayBuffer>,
  cipher: Uint8Array<ArrayBuffer>,
) => Plain

/** Of the sealed values: part of what each is bound to. */
const SEAL_SCHEMA = 1
/** Two keys: one encrypts and proves, the other looks up. */
export const VAULT_KEY_BYTES = 2 * 32

/** What a vault does otherwise than by default. */
export interface VaultVariant {
  /** Does the same as WebCrypto. */
  inPlace?: CryptoInPlace | undefined
  /** Are keys filed by their SHA-256, so that a gateway that knows only the SHA-256 can file them? */
  filesBySha256?: boolean | undefined
}

/** The vault of these `VAULT_KEY_BYTES` random bytes. */
export async function createVault(
  keys: Uint8Array<ArrayBuffer>,
  { inPlace, filesBySha256 = false }: VaultVariant = {},
): Promise<Vault> {
  const half = VAULT_KEY_BYTES / 2
  const [data, lookup] = [keys.slice(0, half), keys.slice(half)]
  const dataKey = await crypto.subtle.importKey('raw', data, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const lookupKey = await crypto.subtle.importKey('raw', lookup, HMAC, false, ['sign'])
  const proof = await proofKeyFrom(data)
  const proofKey = await crypto.subtle.importKey('raw', proof, HMAC, false, ['sign', 'verify'])
  const decryptData: Decrypt<Uint8Array | Promise<Uint8Array>> = inPlace?.decrypter(data) ?? decrypterOf(dataKey)
  const isMac =
    inPlace?.verifier(proof) ??
    ((mac: Uint8Array<ArrayBuffer>, text: Uint8Array<ArrayBuffer>) => crypto.subtle.verify('HMAC', proofKey, mac, text))

  const lookUp = async (text: string) =>
    toHex(new Uint8Array(await crypto.subtle.sign('HMAC', lookupKey, encodeUtf8(text))))

  return {
    digest: filesBySha256 ? async (credential) => lookUp(await sha256Hex(credential)) : lookUp,
    digestBySha256: lookUp,
    seal: (place, plain) => encrypt(dataKey, place, encodeUtf8(plain)),
    open: async (place, sealed) => {
      try {
        return decodeUtf8(await decryptWith(decryptData, place, sealed))
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
      typeof mac === 'string' && MAC_SHAPE.test(mac) && isMac(fromBase64(mac), provenText(place, text)),
  }
}

/** The SHA-256 of a text, in hex. */
export const sha256Hex = async (text: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encodeUtf8(text))))

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const
const MAC_SHAPE = /^[A-Za-z0-9+/]{43}=$/

/** A key of its own, so that no proof is ever of use as anything else. */
async function proofKeyFrom(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const material = await crypto.subtle.importKey('raw', data, 'HKDF', false, ['deriveBits'])
  const info = encodeUtf8('signalbox record')
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info }
  return new Uint8Array(await crypto.subtle.deriveBits(hkdf, material, 256))
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
export const decrypt = async (key: CryptoKey, place: string, sealed: string): Promise<Uint8Array<ArrayBuffer>> =>
  decryptWith(decrypterOf(key), place, sealed)

function decryptWith<Plain>(decrypt: Decrypt<Plain>, place: string, sealed: string): Plain {
  const [iv = '', cipher = ''] = sealed.split('.')
  return decrypt(fromBase64(iv), boundTo(place), fromBase64(cipher))
}

const decrypterOf =
  (key: CryptoKey): Decrypt<Promise<Uint8Array<ArrayBuffer>>> =>
  async (iv, additionalData, cipher) =>
    new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, key, cipher))

const boundTo = (place: string) => encodeUtf8(`${SEAL_SCHEMA}:${place}`)

const keyProofs = createProofs<KeyRecord>(keyFields)

/** A key's record with the proof of its guarded fields under this digest (proofs.ts). */
export async function provenKey(vault: Vault, digest: string, record: KeyRecord): Promise<KeyRecord> {
  return { ...record, mac: await keyProofs.of(vault, placeOf('keys', digest), record) }
}

export const isProvenKey = (vault: Vault, digest: string, record: KeyRecord): Promise<boolean> =>
  keyProofs.areRight(vault, placeOf('keys', digest), record, record.mac)

const groupProofs = createProofs<GroupRecord>(groupFields)

/** A group's record with the proof of its guarded fields under this id. */
export async function provenGroup(vault: Vault, id: string, record: GroupRecord): Promise<GroupRecord> {
  return { ...record, mac: await groupProofs.of(vault, placeOf('groups', id), record) }
}

export const isProvenGroup = (vault: Vault, id: string, record: GroupRecord): Promise<boolean> =>
  groupProofs.areRight(vault, placeOf('groups', id), record, record.mac)

const formerKeyProofs = createProofs<FormerKeyRecord>(formerKeyFields)

/** A former value's record with the proof of its fields under this digest. */
export async function provenFormerKey(vault: Vault, digest: string, record: FormerKeyRecord): Promise<FormerKeyRecord> {
  return { ...record, mac: await formerKeyProofs.of(vault, placeOf('former-keys', digest), record) }
}

export const isProvenFormerKey = (vault: Vault, digest: string, record: FormerKeyRecord): Promise<boolean> =>
  formerKeyProofs.areRight(vault, placeOf('former-keys', digest), record, record.mac)

const settingsProofs = createProofs<object>(settingsFields)

/** The proof of settings as they are read. */
export const proofOfSettings = (vault: Vault, settings: object): Promise<string> =>
  settingsProofs.of(vault, 'settings', settings)

export const areProvenSettings = (vault: Vault, settings: object, mac: unknown): Promise<boolean> =>
  settingsProofs.areRight(vault, 'settings', settings, mac)

/** What a connection's credential is sealed for: the connection, and where it is sent. */
export interface Destination {
  id: string
  provider: string
  providerSpecificData?: { baseUrl?: string; format?: string; resource?: string; region?: string }
}

/** The members of `providerSpecificData` that decide where a credential is sent. */
export const destinationFields = ['baseUrl', 'format', 'resource', 'region'] as const

/** The place that a connection's credential is bound to. */
export function placeOfApiKey({ id, provider, providerSpecificData = {} }: Destination): string {
  const { baseUrl, format, resource, region } = providerSpecificData
  return `${formerPlaceOfApiKey(id)} ${JSON.stringify({ provider, baseUrl, format, resource, region })}`
}

/** The place of a connection's credential before credentials were bound to where they are sent. */
export const formerPlaceOfApiKey = (connectionId: string): string => `connections/${connectionId}/apiKey`

/** The place that a client key's value is bound to. */
export const placeOfKey = (keyId: string): string => `keys/${keyId}/key`

/** The place that the identity at a cloud proxy is bound to. */
export const placeOfIdentity = (cloudUrl: string): string => `cloud/identity ${cloudUrl}`

const placeOf = (collection: string, id: string) => `${collection}/${id}`

/** The value of a client key; `undefined` when it cannot be opened. */
export const openKey = (vault: Vault, { id, sealedKey }: KeyRecord): Promise<string | undefined> =>
  vault.open(placeOfKey(id), sealedKey).catch(() => undefined)

/** The message for a key that cannot be opened. It is found by its digest and never opened, so that it still works. */
export const UNREADABLE_KEY =
  'The key cannot be opened: it was changed, moved, or sealed with another secret. Clients that have it may still use it. Delete it and make a new one.'
