import { gatewayError } from '../errors.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import { fromBase64, randomBytes, toBase64 } from '../lib/encoding.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Logger, Storage } from '../types.ts'
import { failedTo } from './away.ts'
import { VAULT } from './collections.ts'
import { retryLostRace } from './retry-lost-race.ts'
import { hasProvenRecords, takeOver } from './take-over.ts'
import { createVault, decrypt, encrypt, VAULT_KEY_BYTES, type Vault } from './vault.ts'

/**
 * A secret of 32 characters or more, or several with their versions: the first encrypts, the others only decrypt what was encrypted with
 * them.
 */
export type Secret = string | ReadonlyArray<{ version: string | number; value: string }>

/** What a vault is opened with. */
export interface VaultOptions {
  storage: Storage
  secret?: Secret | undefined
  logger: Logger
}

/** Schema 1: records without proof; schema 2: `isTakenOver` says whether every record has its proof. */
type Schema = 1 | 2
const UNSEALED = '' // no version of a secret is empty

/**
 * Opens the vault of a storage, or makes it on first use: a random data key and a random look-up key, wrapped by a key that HKDF derives
 * from the secret. A rotation of the secret re-wraps these two and changes no other record. Without any secret they are stored unwrapped,
 * with a warning to the logger. A storage whose records have no proof yet is taken over once (`takeOver`); whether that is done stands in
 * the vault, where only the secret can change it. Rejects with `SECRET_MISMATCH` when no given secret fits, and with `STORAGE_FAILED`.
 */
export async function openVault(options: VaultOptions): Promise<Vault> {
  const { storage, secret, logger } = options
  const secrets = secretList(secret ?? (await ownSecret(storage)))
  const current = secrets[0]
  if (!current) {
    logger.warn('No secret is set: API keys and credentials lie unprotected in the storage. Set the `secret` option.')
  }
  return retryLostRace(async () => {
    const stored = await storage.get(VAULT).catch(failedTo('read', VAULT))
    const record = stored && parseRecord(stored.value)
    if (record?.wrappedBy === UNSEALED && storage.ownSecret) throw replaced()
    if (!record && (await hasProvenRecords(storage))) throw missing()
    const keys = record ? await unwrap(record, secrets) : randomBytes(VAULT_KEY_BYTES)
    const vault = await createVault(keys)
    const write = async (isTakenOver: boolean, ifVersion: string | null) => {
      const next = await wrap(keys, current, isTakenOver)
      return storage.set(VAULT, JSON.stringify(next), { ifVersion }).catch(failedTo('write', VAULT))
    }
    if (record?.isTakenOver && record.wrappedBy === (current?.version ?? UNSEALED)) return vault
    // The keys are stored before anything is proven with them: another gateway may be making others at this moment.
    const version = stored?.version ?? (await write(false, null))
    if (version === false) return false
    if (!record?.isTakenOver) await takeOver(storage, vault, { isNew: record === undefined })
    return (await write(true, version)) !== false && vault
  })
}

async function ownSecret(storage: Storage): Promise<string | CryptoKey | undefined> {
  return storage.ownSecret?.().catch(failedTo('read', 'secret'))
}

interface VaultRecord {
  schema: Schema
  wrappedBy: string
  salt: string
  keys: string
  /** Has every record that needs a proof been given one? Of schema 1: no. */
  isTakenOver: boolean
}
type NamedSecret = { version: string; value: string | CryptoKey }

function secretList(secret: Secret | CryptoKey | undefined): NamedSecret[] {
  if (secret === undefined) return []
  const list = isSecretList(secret) ? secret : [{ version: 'default', value: secret }]
  return list.map(({ version, value }) => ({ version: String(version), value }))
}

const isSecretList = (secret: Secret | CryptoKey): secret is Exclude<Secret, string> => Array.isArray(secret)

function parseRecord(text: string): VaultRecord {
  const record = tryParseJson(text)
  if (!isObject(record)) throw damaged()
  const { schema, wrappedBy, salt, keys, isTakenOver = false } = record
  if (schema !== 1 && schema !== 2) throw damaged()
  if (typeof wrappedBy !== 'string' || typeof salt !== 'string' || typeof keys !== 'string') throw damaged()
  if (typeof isTakenOver !== 'boolean' || (schema === 1 && isTakenOver)) throw damaged()
  return { schema, wrappedBy, salt, keys, isTakenOver }
}

const damaged = () => gatewayError('STORAGE_FAILED', { message: 'The vault record of the storage cannot be read.' })

const missing = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record of the storage is missing, and without it no key and no credential can be opened. Restore it from a backup.',
  })

/** Its keys would be known to whoever wrote it, and with them all that is sealed from now on. */
const replaced = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record of the storage is not sealed, as none is that a gateway writes to a storage with a secret of its own: it was replaced. Restore it from a backup.',
  })

/** What the wrapped keys are bound to: what is said beside them cannot be changed without the secret. */
const placeOfKeys = ({ schema, isTakenOver }: Pick<VaultRecord, 'schema' | 'isTakenOver'>) =>
  schema === 1 ? VAULT : `${VAULT}/${schema}/${isTakenOver ? 'taken-over' : 'new'}`

async function wrap(
  keys: Uint8Array<ArrayBuffer>,
  secret: NamedSecret | undefined,
  isTakenOver: boolean,
): Promise<VaultRecord> {
  const salt = randomBytes(16)
  const head = { schema: 2, wrappedBy: secret?.version ?? UNSEALED, salt: toBase64(salt), isTakenOver } as const
  if (!secret) return { ...head, keys: toBase64(keys) }
  return { ...head, keys: await encrypt(await wrappingKey(secret.value, salt), placeOfKeys(head), keys) }
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

const unwrapWith = async (secret: NamedSecret, record: VaultRecord) =>
  decrypt(await wrappingKey(secret.value, fromBase64(record.salt)), placeOfKeys(record), record.keys)

function unsealedKeys(record: VaultRecord): Uint8Array<ArrayBuffer> {
  try {
    const keys = fromBase64(record.keys)
    if (keys.length === VAULT_KEY_BYTES) return keys
  } catch {} // as bad as too few of them
  throw damaged()
}

async function wrappingKey(secret: string | CryptoKey, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
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
