import { gatewayError } from '../errors.ts'
import { encodeUtf8, fromBase64, randomBytes, toBase64 } from '../lib/bytes.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Logger, Storage, Stored } from '../types.ts'
import { createKeyring, decryptBytes, encryptBytes, KEYRING_BYTES, type Keyring, type SyncCrypto } from './keyring.ts'
import { KEYRING, KEYS, SETTINGS } from './record-collections.ts'
import { handleStorageError, retryLostRace } from './storage-access.ts'

/** A secret of at least 32 characters, or several with versions: the first one encrypts, the others only decrypt older data. */
export type Secret = string | ReadonlyArray<{ version: string | number; value: string }>

interface KeyringDependencies {
  storage: Storage
  secret?: Secret | undefined
  logger: Logger
  syncCrypto?: SyncCrypto | undefined
  /** See `KeyringOptions`. It must stay the same for a storage that has keys. */
  digestsSha256?: boolean | undefined
}

/** Schema 2: the keys in use; schema 3: new keys, followed by those that they replace. */
type Schema = 2 | 3
/** `wrappedBy` of keys that aren't encrypted. No version of a secret is empty. */
const UNENCRYPTED = ''

/**
 * Opens the keyring of a storage, or creates it on first use: a random data key and a random lookup key, wrapped by a key that HKDF derives
 * from the secret. Rotating the secret re-wraps these two and changes no other record. Without a secret, they are stored unencrypted, with a
 * warning; the first gateway with a secret replaces the data key, which others may know. Rejects with `SECRET_MISMATCH` if no given secret
 * fits, and with `STORAGE_FAILED`.
 */
export async function openKeyring(options: KeyringDependencies): Promise<Keyring> {
  const { storage, secret, logger } = options
  const secrets = await readSecrets(secret, storage)
  const current = secrets[0]
  if (!current) {
    logger.warn('No secret is set, so API keys and credentials are stored unencrypted. Set the `secret` option.')
  }
  return retryLostRace(async () => {
    const stored = await storage.get(KEYRING).catch(handleStorageError('read', KEYRING))
    const record = stored && parseKeyringRecord(stored.value)
    if (record?.wrappedBy === UNENCRYPTED && storage.ownSecret) throw replacedError()
    if (!record && (await hasSignedRecords(storage))) {
      if (!(await storage.get(KEYRING).catch(handleStorageError('read', KEYRING)))) throw missingError()
      return false // another gateway has created it since, along with those records
    }
    if (stored && record?.wrappedBy === UNENCRYPTED && current) {
      await replaceKeys(storage, { stored, record, current })
      return false // the keyring has changed
    }
    const bytes = record ? await unwrap(record, secrets) : randomBytes(KEYRING_BYTES)
    const keys = bytes.slice(0, KEYRING_BYTES)
    const keyring = await createKeyring(keys, { syncCrypto: options.syncCrypto, digestsSha256: options.digestsSha256 })
    const writeRecord = async (isTakenOver: boolean, ifVersion: string | null) => {
      const next = await wrap(keys, current, { schema: 2, isTakenOver })
      return storage.set(KEYRING, JSON.stringify(next), { ifVersion }).catch(handleStorageError('write', KEYRING))
    }
    if (record?.isTakenOver && record.wrappedBy === (current?.version ?? UNENCRYPTED)) return keyring
    // Store the keys before signing anything with them: another gateway may be creating its own right now.
    const version = stored?.version ?? (await writeRecord(false, null))
    if (version === false) return false
    const { createSettings, reencryptAll } = await import('./rewrite-records.ts')
    if (record?.schema === 3) await reencryptAll(storage, await createKeyring(bytes.slice(KEYRING_BYTES)), keyring)
    else if (!record?.isTakenOver) await createSettings(storage, keyring)
    return (await writeRecord(true, version)) !== false && keyring
  })
}

interface KeyringRecord {
  schema: Schema
  wrappedBy: string
  salt: string
  keys: string
  /** Whether the signed settings exist, so that a later start without them is an error. */
  isTakenOver: boolean
}

/** A secret and its version; a `CryptoKey` is HKDF material. */
export interface NamedSecret {
  version: string
  value: string | CryptoKey
}

/** The shortest secret that may encrypt or sign. No key stretching slows down an attacker who has the results and tries secrets. */
export const MIN_SECRET_LENGTH = 32

/** The secrets of a gateway, the one in use first: those that are given, or else the storage's own. Rejects if that can't be read. */
export async function readSecrets(
  secret: Secret | undefined,
  storage: Pick<Storage, 'ownSecret'>,
): Promise<NamedSecret[]> {
  return listSecrets(secret ?? (await storage.ownSecret?.().catch(handleStorageError('read', 'secret'))))
}

function listSecrets(secret: Secret | CryptoKey | undefined): NamedSecret[] {
  if (secret === undefined) return []
  const list = isSecretList(secret) ? secret : [{ version: 'default', value: secret }]
  return list.map(({ version, value }) => ({ version: String(version), value }))
}

const isSecretList = (secret: Secret | CryptoKey): secret is Exclude<Secret, string> => Array.isArray(secret)

function parseKeyringRecord(text: string): KeyringRecord {
  const record = tryParseJson(text)
  if (!isObject(record)) throw damagedError()
  const { schema, wrappedBy, salt, keys, isTakenOver } = record
  if (schema !== 2 && schema !== 3) throw damagedError()
  if (typeof wrappedBy !== 'string' || typeof salt !== 'string' || typeof keys !== 'string') throw damagedError()
  if (typeof isTakenOver !== 'boolean' || (schema === 3 && isTakenOver)) throw damagedError()
  return { schema, wrappedBy, salt, keys, isTakenOver }
}

const damagedError = () =>
  gatewayError('STORAGE_FAILED', {
    message: 'The vault record in the storage cannot be read. Restore it from a backup.',
  })

const missingError = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record is missing from the storage, and without it, no key or credential can be decrypted. Restore it from a backup.',
  })

/** The program that wrote the record would know its keys, and could decrypt everything that is encrypted from now on. */
const replacedError = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record in the storage is not encrypted, although this storage has its own secret, so something replaced it. Restore it from a backup.',
  })

/** The context of the wrapped keys, so that the fields beside them can't be changed without the secret. */
const getKeysContext = ({ schema, isTakenOver }: Pick<KeyringRecord, 'schema' | 'isTakenOver'>) =>
  `${KEYRING}/${schema}/${isTakenOver ? 'taken-over' : 'new'}`

async function wrap(
  keys: Uint8Array<ArrayBuffer>,
  secret: NamedSecret | undefined,
  state: Pick<KeyringRecord, 'schema' | 'isTakenOver'>,
): Promise<KeyringRecord> {
  const salt = randomBytes(16)
  const head = { ...state, wrappedBy: secret?.version ?? UNENCRYPTED, salt: toBase64(salt) }
  if (!secret) return { ...head, keys: toBase64(keys) }
  return { ...head, keys: await encryptBytes(await deriveWrappingKey(secret.value, salt), getKeysContext(head), keys) }
}

async function unwrap(record: KeyringRecord, secrets: readonly NamedSecret[]): Promise<Uint8Array<ArrayBuffer>> {
  if (record.wrappedBy === UNENCRYPTED) return readUnencryptedKeys(record)
  for (const secret of secrets) {
    if (secret.version !== record.wrappedBy) continue
    const keys = await unwrapWith(secret, record).catch(() => undefined) // the wrong secret: reported below
    if (keys) return keys
  }
  throw gatewayError('SECRET_MISMATCH', {
    message: `The secret does not match this storage. Its data was encrypted with secret version "${record.wrappedBy}". Start the gateway with that secret.`,
  })
}

const unwrapWith = async (secret: NamedSecret, record: KeyringRecord) =>
  decryptBytes(await deriveWrappingKey(secret.value, fromBase64(record.salt)), getKeysContext(record), record.keys)

function readUnencryptedKeys(record: KeyringRecord): Uint8Array<ArrayBuffer> {
  try {
    const keys = fromBase64(record.keys)
    if (keys.length === KEYRING_BYTES) return keys
  } catch {} // not base64: damaged, too
  throw damagedError()
}

async function deriveWrappingKey(secret: string | CryptoKey, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material =
    typeof secret === 'string'
      ? await crypto.subtle.importKey('raw', encodeUtf8(secret), 'HKDF', false, ['deriveKey'])
      : secret
  const info = encodeUtf8('signalbox vault')
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt, info },
    material,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}

async function hasSignedRecords(storage: Storage): Promise<boolean> {
  const settings = await storage.get(SETTINGS).catch(handleStorageError('read', SETTINGS))
  const record = settings && tryParseJson(settings.value)
  if (isObject(record) && record.mac !== undefined) return true
  return (await storage.list(KEYS, { limit: 1 }).catch(handleStorageError('list', KEYS))).length > 0
}

/**
 * Replaces the data key of an unencrypted keyring. The new key is stored together with the former one, both encrypted; the gateway that opens
 * this record re-encrypts everything. The lookup key stays, so that every key keeps its digest: it decrypts and signs nothing.
 */
async function replaceKeys(
  storage: Storage,
  { stored, record, current }: { stored: Stored; record: KeyringRecord; current: NamedSecret },
): Promise<void> {
  const former = readUnencryptedKeys(record)
  const { createSettings } = await import('./rewrite-records.ts')
  if (!record.isTakenOver) await createSettings(storage, await createKeyring(former))
  const keys = new Uint8Array(2 * KEYRING_BYTES)
  keys.set(former)
  keys.set(randomBytes(KEYRING_BYTES / 2))
  keys.set(former, KEYRING_BYTES)
  const next = await wrap(keys, current, { schema: 3, isTakenOver: false })
  await storage
    .set(KEYRING, JSON.stringify(next), { ifVersion: stored.version })
    .catch(handleStorageError('write', KEYRING))
}
