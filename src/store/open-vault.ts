import { gatewayError } from '../errors.ts'
import { encodeUtf8, fromBase64, randomBytes, toBase64 } from '../lib/bytes.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Logger, Storage, Stored } from '../types.ts'
import {
  CLOUD_IDENTITIES,
  type ConnectionRecord,
  type FormerKeyRecord,
  type GroupRecord,
  KEYS,
  type KeyRecord,
  SETTINGS,
  VAULT,
} from './collections.ts'
import { overStored, recordKinds } from './readings.ts'
import { signedSettings } from './settings.ts'
import { failedTo, retryLostRace } from './storage-access.ts'
import { createStoredRecords, openRecord, type RecordKind } from './stored-records.ts'
import {
  type CryptoInPlace,
  createVault,
  decrypt,
  encrypt,
  formerPlaceOfApiKey,
  isProvenFormerKey,
  isProvenGroup,
  isProvenKey,
  placeOfApiKey,
  placeOfIdentity,
  placeOfKey,
  provenFormerKey,
  provenGroup,
  provenKey,
  VAULT_KEY_BYTES,
  type Vault,
} from './vault.ts'

/**
 * A secret of 32 characters or more, or several with their versions: the first encrypts, the others only decrypt what was encrypted with
 * them.
 */
export type Secret = string | ReadonlyArray<{ version: string | number; value: string }>

/** What a vault is opened with. */
interface VaultOptions {
  storage: Storage
  secret?: Secret | undefined
  logger: Logger
  cryptoInPlace?: CryptoInPlace | undefined
  /** See `VaultVariant`. A storage that has keys must always be opened with the same. */
  filesBySha256?: boolean | undefined
}

/**
 * Schema 1: records without proof; schema 2: `isTakenOver` is true once every record has its proof; schema 3: new keys, followed by those that
 * they replace. Releases that do not know schema 3 refuse it.
 */
type Schema = 1 | 2 | 3
const UNSEALED = '' // no version of a secret is empty

/**
 * Opens the vault of a storage, or makes it on first use: a random data key and a random look-up key, wrapped by a key that HKDF derives
 * from the secret. A rotation of the secret re-wraps these two and changes no other record. Without any secret they are stored unwrapped,
 * with a warning to the logger; the first gateway with a secret replaces the data key, which others may know (`replaceKeys`). A storage
 * whose records have no proof yet is taken over once (`takeOver`); whether that is done stands in the vault, where only the secret can change
 * it. Rejects with `SECRET_MISMATCH` when no given secret fits, and with `STORAGE_FAILED`.
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
    if (!record && (await hasProvenRecords(storage))) {
      if (!(await storage.get(VAULT).catch(failedTo('read', VAULT)))) throw missing()
      return false // another gateway has made it, and those records with it, since it was read
    }
    if (stored && record?.wrappedBy === UNSEALED && current) {
      await replaceKeys(storage, { stored, record, current })
      return false // the vault is another one now
    }
    const unwrapped = record ? await unwrap(record, secrets) : randomBytes(VAULT_KEY_BYTES)
    const keys = unwrapped.slice(0, VAULT_KEY_BYTES)
    const vault = await createVault(keys, { inPlace: options.cryptoInPlace, filesBySha256: options.filesBySha256 })
    const write = async (isTakenOver: boolean, ifVersion: string | null) => {
      const next = await wrap(keys, current, { schema: 2, isTakenOver })
      return storage.set(VAULT, JSON.stringify(next), { ifVersion }).catch(failedTo('write', VAULT))
    }
    if (record?.isTakenOver && record.wrappedBy === (current?.version ?? UNSEALED)) return vault
    // The keys are stored before anything is proven with them: another gateway may be making others at this moment.
    const version = stored?.version ?? (await write(false, null))
    if (version === false) return false
    if (record?.schema === 3) await reseal(storage, await createVault(unwrapped.slice(VAULT_KEY_BYTES)), vault)
    else if (!record?.isTakenOver) await takeOver(storage, vault, { isNew: record === undefined })
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
  if (schema !== 1 && schema !== 2 && schema !== 3) throw damaged()
  if (typeof wrappedBy !== 'string' || typeof salt !== 'string' || typeof keys !== 'string') throw damaged()
  if (typeof isTakenOver !== 'boolean' || (schema !== 2 && isTakenOver)) throw damaged()
  return { schema, wrappedBy, salt, keys, isTakenOver }
}

const damaged = () => gatewayError('STORAGE_FAILED', { message: 'The vault record of the storage cannot be read.' })

const missing = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record of the storage is missing, and without it no key and no credential can be opened. Restore it from a backup.',
  })

/** The program that wrote the record would know its keys, and could open all that is sealed from now on. */
const replaced = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record of the storage is not sealed, but a gateway seals each vault record in a storage with a secret of its own: it was replaced. Restore it from a backup.',
  })

/** What the wrapped keys are bound to: the members beside them cannot be changed without the secret. */
const placeOfKeys = ({ schema, isTakenOver }: Pick<VaultRecord, 'schema' | 'isTakenOver'>) =>
  schema === 1 ? VAULT : `${VAULT}/${schema}/${isTakenOver ? 'taken-over' : 'new'}`

async function wrap(
  keys: Uint8Array<ArrayBuffer>,
  secret: NamedSecret | undefined,
  state: Pick<VaultRecord, 'schema' | 'isTakenOver'>,
): Promise<VaultRecord> {
  const salt = randomBytes(16)
  const head = { ...state, wrappedBy: secret?.version ?? UNSEALED, salt: toBase64(salt) }
  if (!secret) return { ...head, keys: toBase64(keys) }
  return { ...head, keys: await encrypt(await wrappingKey(secret.value, salt), placeOfKeys(head), keys) }
}

async function unwrap(record: VaultRecord, secrets: readonly NamedSecret[]): Promise<Uint8Array<ArrayBuffer>> {
  if (record.wrappedBy === UNSEALED) return unsealedKeys(record)
  for (const secret of secrets) {
    if (secret.version !== record.wrappedBy) continue
    const keys = await unwrapWith(secret, record).catch(() => undefined) // the wrong secret: reported below
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

/** Is there a record that only a vault can have made? */
async function hasProvenRecords(storage: Storage): Promise<boolean> {
  const settings = await storage.get(SETTINGS).catch(failedTo('read', SETTINGS))
  const record = settings && tryParseJson(settings.value)
  if (isObject(record) && record.mac !== undefined) return true
  return (await storage.list(KEYS, { limit: 1 }).catch(failedTo('list', KEYS))).length > 0
}

/**
 * Gives each record that a release before wrote its proof, and seals each credential for where it is sent. What has its proof already is
 * left alone, so that a second run, beside the first or after one that was cut, does no harm. Where the vault `isNew`, there can only be
 * settings. Rejects with `STORAGE_FAILED`.
 */
async function takeOver(storage: Storage, vault: Vault, { isNew }: { isNew: boolean }): Promise<void> {
  await rewrite(storage, SETTINGS, (text) => signedSettings(text, { vault }))
  if (isNew) return
  await rewriteAll<KeyRecord>(storage, recordKinds.keys, async (record, digest) =>
    (await isProvenKey(vault, digest, record)) ? undefined : provenKey(vault, digest, record),
  )
  await rewriteAll<ConnectionRecord>(storage, recordKinds.connections, async (record) => {
    const { id, sealedApiKey } = record
    if (typeof sealedApiKey !== 'string') return undefined
    const apiKey = await vault.open(formerPlaceOfApiKey(id), sealedApiKey).catch(() => undefined) // sealed anew already, or not to be opened
    return apiKey === undefined
      ? undefined
      : { ...record, sealedApiKey: await vault.seal(placeOfApiKey(record), apiKey) }
  })
}

/**
 * Replaces the data key of a vault that lies there in clear. The new one is stored with the former one, both sealed; the gateway that opens
 * that vault calls `reseal`. The look-up key stays, so that every key keeps its place: it opens and proves nothing.
 */
async function replaceKeys(
  storage: Storage,
  { stored, record, current }: { stored: Stored; record: VaultRecord; current: NamedSecret },
): Promise<void> {
  const former = unsealedKeys(record)
  if (!record.isTakenOver) await takeOver(storage, await createVault(former), { isNew: false })
  const keys = new Uint8Array(2 * VAULT_KEY_BYTES)
  keys.set(former)
  keys.set(randomBytes(VAULT_KEY_BYTES / 2))
  keys.set(former, VAULT_KEY_BYTES)
  const next = await wrap(keys, current, { schema: 3, isTakenOver: false })
  await storage.set(VAULT, JSON.stringify(next), { ifVersion: stored.version }).catch(failedTo('write', VAULT))
}

/** Seals and proves by `vault` what `former` opens and proves; leaves the rest alone, so that it may run again, and twice at once. */
async function reseal(storage: Storage, former: Vault, vault: Vault): Promise<void> {
  const resealed = async (place: string, sealed: string) => {
    const plain = await former.open(place, sealed).catch(() => undefined)
    return plain === undefined ? undefined : vault.seal(place, plain)
  }
  await rewrite(storage, SETTINGS, (text) => signedSettings(text, { former, vault }))
  await rewriteAll<KeyRecord>(storage, recordKinds.keys, async (record, digest) => {
    const sealedKey = await resealed(placeOfKey(record.id), record.sealedKey)
    const next = sealedKey === undefined ? undefined : { ...record, sealedKey }
    return (await isProvenKey(former, digest, record)) ? provenKey(vault, digest, next ?? record) : next
  })
  await rewriteAll<FormerKeyRecord>(storage, recordKinds.formerKeys, async (record, digest) =>
    (await isProvenFormerKey(former, digest, record)) ? provenFormerKey(vault, digest, record) : undefined,
  )
  await rewriteAll<GroupRecord>(storage, recordKinds.groups, async (record, id) =>
    (await isProvenGroup(former, id, record)) ? provenGroup(vault, id, record) : undefined,
  )
  await rewriteAll<ConnectionRecord>(storage, recordKinds.connections, async (record) => {
    if (typeof record.sealedApiKey !== 'string') return undefined
    const sealedApiKey = await resealed(placeOfApiKey(record), record.sealedApiKey)
    return sealedApiKey === undefined ? undefined : { ...record, sealedApiKey }
  })
  await rewrite(storage, CLOUD_IDENTITIES, async (text) => {
    const identities = text === undefined ? undefined : tryParseJson(text)
    if (!isObject(identities)) return undefined
    const anew: JsonObject = {}
    for (const [cloudUrl, sealed] of Object.entries(identities))
      anew[cloudUrl] = (await resealed(placeOfIdentity(cloudUrl), String(sealed))) ?? sealed
    const next = JSON.stringify(anew)
    return next === text ? undefined : next
  })
}

/** A page at a time: a storage that commits what comes at once together takes 100,000 in seconds. */
async function rewriteAll<T extends object>(
  storage: Storage,
  kind: RecordKind<T>,
  change: (record: T, id: string) => Promise<T | undefined>,
): Promise<void> {
  const stored = createStoredRecords<T>(storage, kind)
  const changed = async (key: string, text: string | undefined) => {
    const { entry } = text === undefined ? {} : openRecord(key, text, kind)
    const next = entry && (await change(entry.record, entry.id))
    if (!entry || !next) return undefined
    const record = entry.stored ? overStored(entry.stored, entry.record, next) : next
    return JSON.stringify({ order: entry.order, record })
  }
  const rewriteOne = (key: string) => rewrite(storage, key, (text) => changed(key, text))
  for await (const page of stored.pages()) await Promise.all(page.map(({ id }) => rewriteOne(stored.keyOf(id))))
}

/** Writes what `change` makes of the value, unless that is `undefined`; again when another writer was faster. */
async function rewrite(
  storage: Storage,
  key: string,
  change: (text: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  await retryLostRace(async () => {
    const stored = await storage.get(key).catch(failedTo('read', key))
    const next = await change(stored?.value)
    if (next === undefined) return true
    const version = await storage.set(key, next, { ifVersion: stored?.version ?? null }).catch(failedTo('write', key))
    return version !== false
  })
}
