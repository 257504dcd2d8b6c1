import { gatewayError } from '../errors.ts'
import { decodeUtf8, encodeUtf8, fromBase64, randomBytes, toBase64, toHex } from '../lib/bytes.ts'
import { groupFields } from '../types/records/group-fields.ts'
import { keyFields } from '../types/records/key-fields.ts'
import { previousKeyFields } from '../types/records/previous-keys.ts'
import { settingsFields } from '../types/records/settings-fields.ts'
import type { GroupRecord, KeyRecord, PreviousKeyRecord } from './record-collections.ts'
import { createSignatures } from './signatures.ts'

/** A store's keys. It encrypts credentials, signs records, and computes the digests that client keys are looked up by. */
export interface Keyring {
  /** Returns the digest under which a client key is stored: HMAC-SHA-256 in hex. */
  digest(credential: string): Promise<string>
  /**
   * Returns the result of `digest`, given the SHA-256 of a client key in hex. Only valid with `digestsSha256`; otherwise no credential has this
   * digest.
   */
  digestBySha256(sha256: string): Promise<string>
  /** Returns the HMAC-SHA-256 of a string with the lookup key, which stays the same when the secret or the data key changes. */
  hashForLookup(text: string): Promise<Uint8Array>
  /** Encrypts with AES-256-GCM. `context` (collection, ID, field) is authenticated, so encrypted values can't be swapped. */
  encrypt(context: string, plaintext: string): Promise<string>
  /** Decrypts. Rejects with `STORAGE_FAILED` if the value was changed, moved, or encrypted with another key. */
  decrypt(context: string, encrypted: string): Promise<string>
  /** Returns the HMAC-SHA-256 of a string in a context, in base64. It proves that the string was written with the secret. */
  sign(context: string, text: string): Promise<string>
  /** Resolves to whether `mac` is the result of `sign` for the same string and context. */
  verify(context: string, text: string, mac: unknown): Promise<boolean>
}

/** A platform's synchronous cryptography. WebCrypto uses a thread and takes ten times as long: seconds for 100,000 keys. */
export interface SyncCrypto {
  /** Creates a function that verifies HMAC-SHA-256 codes. */
  createVerifier(key: Uint8Array): (mac: Uint8Array, text: Uint8Array) => boolean
  /** Creates a function that decrypts AES-256-GCM. The ciphertext ends with its tag. Throws if the tag is wrong. */
  createDecrypter(key: Uint8Array): Decrypt<Uint8Array>
}

type Decrypt<Plaintext> = (
  iv: Uint8Array<ArrayBuffer>,
  additionalData: Uint8Array<ArrayBuffer>,
  ciphertext: Uint8Array<ArrayBuffer>,
) => Plaintext

/** Part of the authenticated data of every encrypted value. */
const CIPHER_SCHEMA = 1
/** The length of a keyring's two keys: one encrypts and signs, the other computes digests. */
export const KEYRING_BYTES = 2 * 32

/** Options for a keyring. */
export interface KeyringOptions {
  /** Cryptography to use instead of WebCrypto. */
  syncCrypto?: SyncCrypto | undefined
  /** Computes digests from the SHA-256 of client keys, so a gateway that only knows the SHA-256 can store keys. Default: `false`. */
  digestsSha256?: boolean | undefined
}

/** Creates a keyring from `KEYRING_BYTES` random bytes. */
export async function createKeyring(
  keys: Uint8Array<ArrayBuffer>,
  { syncCrypto, digestsSha256 = false }: KeyringOptions = {},
): Promise<Keyring> {
  const keyBytes = KEYRING_BYTES / 2
  const [data, lookup] = [keys.slice(0, keyBytes), keys.slice(keyBytes)]
  const dataKey = await crypto.subtle.importKey('raw', data, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const lookupKey = await crypto.subtle.importKey('raw', lookup, HMAC_ALGORITHM, false, ['sign'])
  const signingBytes = await deriveSigningKey(data)
  const signingKey = await crypto.subtle.importKey('raw', signingBytes, HMAC_ALGORITHM, false, ['sign', 'verify'])
  const decryptData: Decrypt<Uint8Array | Promise<Uint8Array>> =
    syncCrypto?.createDecrypter(data) ?? createDecrypter(dataKey)
  const isValidMac =
    syncCrypto?.createVerifier(signingBytes) ??
    ((mac: Uint8Array<ArrayBuffer>, text: Uint8Array<ArrayBuffer>) =>
      crypto.subtle.verify('HMAC', signingKey, mac, text))

  const hashForLookup = async (text: string) =>
    new Uint8Array(await crypto.subtle.sign('HMAC', lookupKey, encodeUtf8(text)))
  const computeDigest = async (text: string) => toHex(await hashForLookup(text))

  return {
    digest: digestsSha256 ? async (credential) => computeDigest(await sha256Hex(credential)) : computeDigest,
    digestBySha256: computeDigest,
    hashForLookup,
    encrypt: (context, plaintext) => encryptBytes(dataKey, context, encodeUtf8(plaintext)),
    decrypt: async (context, encrypted) => {
      try {
        return decodeUtf8(await decryptText(decryptData, context, encrypted))
      } catch (cause) {
        throw gatewayError('STORAGE_FAILED', {
          message: `An encrypted value in the storage was changed or moved: ${context}`,
          cause,
        })
      }
    },
    sign: async (context, text) =>
      toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', signingKey, getSignedBytes(context, text)))),
    verify: async (context, text, mac) =>
      typeof mac === 'string' && MAC_PATTERN.test(mac) && isValidMac(fromBase64(mac), getSignedBytes(context, text)),
  }
}

/** Returns the SHA-256 of a string in hex. */
export const sha256Hex = async (text: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encodeUtf8(text))))

const HMAC_ALGORITHM = { name: 'HMAC', hash: 'SHA-256' } as const
const MAC_PATTERN = /^[A-Za-z0-9+/]{43}=$/

/** Derives a separate key for signatures, so signatures can't be used for any other purpose. */
async function deriveSigningKey(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const material = await crypto.subtle.importKey('raw', data, 'HKDF', false, ['deriveBits'])
  const info = encodeUtf8('signalbox record')
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(0), info }
  return new Uint8Array(await crypto.subtle.deriveBits(hkdf, material, 256))
}

/** Returns a JSON array, so different pairs of context and text never have the same bytes. */
const getSignedBytes = (context: string, text: string) => encodeUtf8(JSON.stringify([context, text]))

/** Encrypts in a context. The result is a random 12-byte IV in base64, a dot, and the ciphertext with its tag in base64. */
export async function encryptBytes(
  key: CryptoKey,
  context: string,
  plaintext: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const iv = randomBytes(12)
  const ciphertext = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv, additionalData: getAdditionalData(context) },
    key,
    plaintext,
  )
  return `${toBase64(iv)}.${toBase64(new Uint8Array(ciphertext))}`
}

/** Decrypts a value that `encryptBytes` encrypted in the same context. Rejects any other value. */
export const decryptBytes = async (
  key: CryptoKey,
  context: string,
  encrypted: string,
): Promise<Uint8Array<ArrayBuffer>> => decryptText(createDecrypter(key), context, encrypted)

function decryptText<Plaintext>(decrypt: Decrypt<Plaintext>, context: string, encrypted: string): Plaintext {
  const [iv = '', cipher = ''] = encrypted.split('.')
  return decrypt(fromBase64(iv), getAdditionalData(context), fromBase64(cipher))
}

const createDecrypter =
  (key: CryptoKey): Decrypt<Promise<Uint8Array<ArrayBuffer>>> =>
  async (iv, additionalData, ciphertext) =>
    new Uint8Array(await crypto.subtle.decrypt({ name: 'AES-GCM', iv, additionalData }, key, ciphertext))

const getAdditionalData = (context: string) => encodeUtf8(`${CIPHER_SCHEMA}:${context}`)

const keySignatures = createSignatures<KeyRecord>(keyFields)

/** Signs the signed fields of a key's record under this digest (signatures.ts). */
export async function signKey(keyring: Keyring, digest: string, record: KeyRecord): Promise<KeyRecord> {
  return { ...record, mac: await keySignatures.sign(keyring, `keys/${digest}`, record) }
}

export const isSignedKey = (keyring: Keyring, digest: string, record: KeyRecord): Promise<boolean> =>
  keySignatures.verify(keyring, `keys/${digest}`, record, record.mac)

const groupSignatures = createSignatures<GroupRecord>(groupFields)

/** Signs the signed fields of a group's record under this ID. */
export async function signGroup(keyring: Keyring, id: string, record: GroupRecord): Promise<GroupRecord> {
  return { ...record, mac: await groupSignatures.sign(keyring, `groups/${id}`, record) }
}

export const isSignedGroup = (keyring: Keyring, id: string, record: GroupRecord): Promise<boolean> =>
  groupSignatures.verify(keyring, `groups/${id}`, record, record.mac)

const previousKeySignatures = createSignatures<PreviousKeyRecord>(previousKeyFields)

/** Signs a previous key value's record under this digest. */
export async function signPreviousKey(
  keyring: Keyring,
  digest: string,
  record: PreviousKeyRecord,
): Promise<PreviousKeyRecord> {
  return { ...record, mac: await previousKeySignatures.sign(keyring, `former-keys/${digest}`, record) }
}

export const isSignedPreviousKey = (keyring: Keyring, digest: string, record: PreviousKeyRecord): Promise<boolean> =>
  previousKeySignatures.verify(keyring, `former-keys/${digest}`, record, record.mac)

const settingsSignatures = createSignatures<object>(settingsFields)

/** Returns the settings' signature. */
export const signSettings = (keyring: Keyring, settings: object): Promise<string> =>
  settingsSignatures.sign(keyring, 'settings', settings)

export const areSignedSettings = (keyring: Keyring, settings: object, mac: unknown): Promise<boolean> =>
  settingsSignatures.verify(keyring, 'settings', settings, mac)

/** The fields of a connection that its encrypted credential is bound to, because they determine where it is sent. */
export interface Destination {
  id: string
  provider: string
  providerSpecificData?: { baseUrl?: string; format?: string; resource?: string; region?: string }
}

/** The fields of `providerSpecificData` that determine where a credential is sent. */
export const destinationFields = ['baseUrl', 'format', 'resource', 'region'] as const

/** Returns the context of a connection's encrypted credential. */
export function getApiKeyContext({ id, provider, providerSpecificData = {} }: Destination): string {
  const { baseUrl, format, resource, region } = providerSpecificData
  return `connections/${id}/apiKey ${JSON.stringify({ provider, baseUrl, format, resource, region })}`
}

/** Returns the context of a client key's encrypted value. */
export const getKeyContext = (keyId: string): string => `keys/${keyId}/key`

/** Returns the context of the gateway's encrypted identity at a cloud proxy. */
export const getIdentityContext = (cloudUrl: string): string => `cloud/identity ${cloudUrl}`

/** Returns a client key's value, or `undefined` if it can't be decrypted. */
export const decryptKey = (keyring: Keyring, { id, sealedKey }: KeyRecord): Promise<string | undefined> =>
  keyring.decrypt(getKeyContext(id), sealedKey).catch(() => undefined)

/** The message for a key that can't be decrypted. The key still works, because it is found by its digest. */
export const UNREADABLE_KEY =
  'The key cannot be decrypted because it was changed, moved, or encrypted with another secret. Clients that have it can still use it. Delete it and create a new one.'
