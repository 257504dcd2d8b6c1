import { gatewayError } from '../errors.ts'
import { encodeUtf8, fromBase64 } from '../lib/bytes.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import { decryptBytes, KEYRING_BYTES } from './keyring.ts'
import { KEYRING_KEY } from './record-collections.ts'

/** Schema 2: the keys in use. Schema 3: new keys, followed by the keys that they replace. */
type Schema = 2 | 3
/** The `wrappedBy` of keys that aren't encrypted. A secret's version is never empty. */
export const NOT_WRAPPED = ''

/** The record with a store's keys, wrapped by a key that is derived from a secret. */
export interface KeyringRecord {
  schema: Schema
  wrappedBy: string
  salt: string
  keys: string
  /** Whether the signed settings exist. If they do, a later start without them fails. */
  isTakenOver: boolean
}

/** A secret and its version; a `CryptoKey` is HKDF material. */
export interface VersionedSecret {
  version: string
  value: string | CryptoKey
}

/** Parses a keyring record. Throws `STORAGE_FAILED` if it is damaged. */
export function parseKeyringRecord(text: string): KeyringRecord {
  const record = tryParseJson(text)
  if (!isObject(record)) throw createDamagedError()
  const { schema, wrappedBy, salt, keys, isTakenOver } = record
  if (schema !== 2 && schema !== 3) throw createDamagedError()
  if (typeof wrappedBy !== 'string' || typeof salt !== 'string' || typeof keys !== 'string') throw createDamagedError()
  if (typeof isTakenOver !== 'boolean' || (schema === 3 && isTakenOver)) throw createDamagedError()
  return { schema, wrappedBy, salt, keys, isTakenOver }
}

const createDamagedError = () =>
  gatewayError('STORAGE_FAILED', {
    message: 'The vault record in the storage cannot be read. Restore it from a backup.',
  })

/** Returns the context of the wrapped keys, which prevents changes to the record's other fields without the secret. */
export const getKeysContext = ({ schema, isTakenOver }: Pick<KeyringRecord, 'schema' | 'isTakenOver'>) =>
  `${KEYRING_KEY}/${schema}/${isTakenOver ? 'taken-over' : 'new'}`

/** Decrypts the keys. Throws `SECRET_MISMATCH` if no secret matches, or `STORAGE_FAILED`. */
export async function unwrapKeys(
  record: KeyringRecord,
  secrets: readonly VersionedSecret[],
): Promise<Uint8Array<ArrayBuffer>> {
  if (record.wrappedBy === NOT_WRAPPED) return readUnencryptedKeys(record)
  for (const secret of secrets) {
    if (secret.version !== record.wrappedBy) continue
    const keys = await unwrapWithSecret(secret, record).catch(() => undefined) // the error for a wrong secret is thrown below
    if (keys) return keys
  }
  throw gatewayError('SECRET_MISMATCH', {
    message: `The secret does not match this storage. Its data was encrypted with secret version "${record.wrappedBy}". Start the gateway with that secret.`,
  })
}

const unwrapWithSecret = async (secret: VersionedSecret, record: KeyringRecord) =>
  decryptBytes(await deriveWrappingKey(secret.value, fromBase64(record.salt)), getKeysContext(record), record.keys)

/** Reads keys that aren't encrypted. Throws `STORAGE_FAILED` if they are damaged. */
export function readUnencryptedKeys(record: KeyringRecord): Uint8Array<ArrayBuffer> {
  try {
    const keys = fromBase64(record.keys)
    if (keys.length === KEYRING_BYTES) return keys
  } catch {} // invalid base64 also means damaged
  throw createDamagedError()
}

/** Derives the key that wraps a store's keys. */
export const deriveWrappingKey = (secret: string | CryptoKey, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> =>
  deriveSecretKey(secret, {
    ...{ salt, info: 'signalbox vault', algorithm: { name: 'AES-GCM', length: 256 } },
    usages: ['encrypt', 'decrypt'],
  })

/** Derives a key from a secret with HKDF. Each purpose has its own `info`. */
export async function deriveSecretKey(
  secret: string | CryptoKey,
  {
    info,
    algorithm,
    usages,
    salt = new Uint8Array(0),
  }: {
    info: string
    algorithm: HmacKeyGenParams | AesKeyGenParams
    usages: KeyUsage[]
    salt?: Uint8Array<ArrayBuffer>
  },
): Promise<CryptoKey> {
  const material =
    typeof secret === 'string'
      ? await crypto.subtle.importKey('raw', encodeUtf8(secret), 'HKDF', false, ['deriveKey'])
      : secret
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt, info: encodeUtf8(info) }
  return crypto.subtle.deriveKey(hkdf, material, algorithm, false, usages)
}
