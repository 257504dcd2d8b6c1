import { gatewayError } from '../errors.ts'
import { decodeUtf8, encodeUtf8 } from '../lib/bytes.ts'
import { fromBase64, randomBytes, toBase64, toHex } from '../lib/encoding.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Logger, Storage } from '../types.ts'
import { storageFailure } from './failure.ts'
import { retryLostRace } from './retry-lost-race.ts'

/**
 * A secret of 32 characters or more, or several with their versions: the first encrypts, the others only decrypt what was encrypted with
 * them.
 */
export type Secret = string | ReadonlyArray<{ version: string | number; value: string }>

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
}

/** What a vault is opened with. */
export interface VaultOptions {
  storage: Storage
  secret?: Secret | undefined
  logger: Logger
}

const RECORD = 'vault'
const SCHEMA = 1
const UNSEALED = '' // no version of a secret is empty
const KEY_BYTES = 32

/**
 * Opens the vault of a storage, or makes it on first use: a random data key and a random look-up key, wrapped by a key that HKDF derives
 * from the secret. A rotation of the secret re-wraps these two and changes no other record. Without any secret they are stored unwrapped,
 * with a warning to the logger. Rejects with `SECRET_MISMATCH` when no given secret fits, and with `STORAGE_FAILED`.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { storage, secret, logger } = options
  const secrets = secretList(secret ?? (await ownSecret(storage)))
  const current = secrets[0]
  if (!current) {
    logger.warn('No secret is set: API keys and credentials lie unprotected in the storage. Set the `secret` option.')
  }
  return retryLostRace(async () => {
    const stored = await storage.get(RECORD).catch((cause: unknown) => {
      throw storageFailure('read', RECORD, cause)
    })
    const record = stored && parseRecord(stored.value)
    const keys = record ? await unwrap(record, secrets) : randomBytes(2 * KEY_BYTES)
    if (record?.wrappedBy === (current?.version ?? UNSEALED)) return vaultFrom(keys)
    const written = await storage
      .set(RECORD, JSON.stringify(await wrap(keys, current)), { ifVersion: stored?.version ?? null })
      .catch((cause: unknown) => {
        throw storageFailure('write', RECORD, cause)
      })
    return written !== false && vaultFrom(keys)
  })
}

async function ownSecret(storage: Storage): Promise<string | undefined> {
  return storage.ownSecret?.().catch((cause: unknown) => {
    throw storageFailure('read', 'secret', cause)
  })
}

interface VaultRecord {
  schema: number
  wrappedBy: string
  salt: string
  keys: string
}
type NamedSecret = { version: string; value: string }

function secretList(secret: Secret | undefined): NamedSecret[] {
  if (secret === undefined) return []
  const list = typeof secret === 'string' ? [{ version: 'default', value: secret }] : secret
  return list.map(({ version, value }) => ({ version: String(version), value }))
}

function parseRecord(text: string): VaultRecord {
  const record = tryParseJson(text)
  if (!isObject(record) || record.schema !== SCHEMA) throw damaged()
  const { wrappedBy, salt, keys } = record
  if (typeof wrappedBy !== 'string' || typeof salt !== 'string' || typeof keys !== 'string') throw damaged()
  return { schema: SCHEMA, wrappedBy, salt, keys }
}

const damaged = () => gatewayError('STORAGE_FAILED', { message: 'The vault record of the storage cannot be read.' })

async function wrap(keys: Uint8Array<ArrayBuffer>, secret: NamedSecret | undefined): Promise<VaultRecord> {
  const salt = randomBytes(16)
  const wrapped = secret ? await encrypt(await wrappingKey(secret.value, salt), RECORD, keys) : toBase64(keys)
  return { schema: SCHEMA, wrappedBy: secret?.version ?? UNSEALED, salt: toBase64(salt), keys: wrapped }
}

async function unwrap(record: VaultRecord, secrets: readonly NamedSecret[]): Promise<Uint8Array<ArrayBuffer>> {
  if (record.wrappedBy === UNSEALED) return unsealedKeys(record)
  for (const secret of secrets) {
    if (secret.version !== record.wrappedBy) continue
    const keys = await unwrapWith(secret, record).catch(() => undefined) // the wrong secret: said below
    if (keys) return keys
  }
  throw gatewayError('SECRET_MISMATCH', {
    message: `The secret does not open this store: its data was sealed with secret version "${record.wrappedBy}". Start with that secret.`,
  })
}

const unwrapWith = async (secret: NamedSecret, { salt, keys }: VaultRecord) =>
  decrypt(await wrappingKey(secret.value, fromBase64(salt)), RECORD, keys)

function unsealedKeys(record: VaultRecord): Uint8Array<ArrayBuffer> {
  try {
    const keys = fromBase64(record.keys)
    if (keys.length === 2 * KEY_BYTES) return keys
  } catch {} // as bad as too few of them
  throw damaged()
}

async function wrappingKey(secret: string, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey('raw', encodeUtf8(secret), 'HKDF', false, ['deriveKey'])
  const info = encodeUtf8('signalbox vault')
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt, info },
    material,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  )
}

async function vaultFrom(keys: Uint8Array<ArrayBuffer>): Promise<Vault> {
  const [data, lookup] = [keys.slice(0, KEY_BYTES), keys.slice(KEY_BYTES)]
  const dataKey = await crypto.subtle.importKey('raw', data, 'AES-GCM', false, ['encrypt', 'decrypt'])
  const lookupKey = await crypto.subtle.importKey('raw', lookup, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign'])

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
  }
}

/** Base64 of a random 12-byte IV and the ciphertext with its tag. */
async function encrypt(key: CryptoKey, place: string, plain: Uint8Array<ArrayBuffer>): Promise<string> {
  const iv = randomBytes(12)
  const cipher = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: boundTo(place) }, key, plain)
  return `${toBase64(iv)}.${toBase64(new Uint8Array(cipher))}`
}

async function decrypt(key: CryptoKey, place: string, sealed: string): Promise<Uint8Array<ArrayBuffer>> {
  const [iv = '', cipher = ''] = sealed.split('.')
  const algorithm = { name: 'AES-GCM', iv: fromBase64(iv), additionalData: boundTo(place) }
  return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, fromBase64(cipher)))
}

const boundTo = (place: string) => encodeUtf8(`${SCHEMA}:${place}`)
