import { gatewayError } from '../errors.ts'
import { randomBytes, toBase64 } from '../lib/bytes.ts'
import { isObject, tryParseJson } from '../lib/json.ts'
import type { Storage, Stored } from '../types.ts'
import { createKeyring, encryptBytes, KEYRING_BYTES, type Keyring } from './keyring.ts'
import {
  deriveWrappingKey,
  getKeysContext,
  type KeyringRecord,
  NOT_WRAPPED,
  readUnencryptedKeys,
  unwrapKeys,
  type VersionedSecret,
} from './keyring-record.ts'
import { KEYRING_KEY, KEYS_PREFIX, SETTINGS_KEY } from './record-collections.ts'
import { createSettings, reencryptAll } from './rewrite-records.ts'
import { handleStorageError } from './storage-access.ts'

/* Creates or replaces a store's keyring. Loaded only when needed, because most starts find a keyring that is ready. */

interface FoundKeyring {
  stored: Stored
  record: KeyringRecord
}

/**
 * Creates or replaces the keyring. Resolves to `false` if the stored keyring has changed and must be read again. Rejects with the same errors as
 * `openKeyring`.
 */
export async function setUpKeyring(
  storedKeyring: FoundKeyring | undefined,
  {
    storage,
    secrets,
    create,
  }: {
    storage: Storage
    secrets: readonly VersionedSecret[]
    create(keys: Uint8Array<ArrayBuffer>): Promise<Keyring>
  },
): Promise<Keyring | false> {
  const currentSecret = secrets[0]
  if (!storedKeyring && (await hasSignedRecords(storage))) {
    if (!(await storage.get(KEYRING_KEY).catch(handleStorageError('read', KEYRING_KEY))))
      throw createMissingSettingsError()
    return false // another gateway has created the keyring in the meantime, along with the records
  }
  if (storedKeyring?.record.wrappedBy === NOT_WRAPPED && currentSecret) {
    await replaceKeys(storage, { ...storedKeyring, currentSecret })
    return false
  }
  const bytes = storedKeyring ? await unwrapKeys(storedKeyring.record, secrets) : randomBytes(KEYRING_BYTES)
  const keys = bytes.slice(0, KEYRING_BYTES)
  const keyring = await create(keys)
  const writeRecord = async (isTakenOver: boolean, ifVersion: string | null) => {
    const keyringRecord = await wrapKeys(keys, currentSecret, { schema: 2, isTakenOver })
    return storage
      .set(KEYRING_KEY, JSON.stringify(keyringRecord), { ifVersion })
      .catch(handleStorageError('write', KEYRING_KEY))
  }
  // Store the keys before signing anything with them, because another gateway may be creating its own keys at the same time.
  const version = storedKeyring?.stored.version ?? (await writeRecord(false, null))
  if (version === false) return false
  if (storedKeyring?.record.schema === 3)
    await reencryptAll(storage, await createKeyring(bytes.slice(KEYRING_BYTES)), keyring)
  else if (!storedKeyring?.record.isTakenOver) await createSettings(storage, keyring)
  return (await writeRecord(true, version)) !== false && keyring
}

async function wrapKeys(
  keys: Uint8Array<ArrayBuffer>,
  secret: VersionedSecret | undefined,
  state: Pick<KeyringRecord, 'schema' | 'isTakenOver'>,
): Promise<KeyringRecord> {
  const salt = randomBytes(16)
  const header = { ...state, wrappedBy: secret?.version ?? NOT_WRAPPED, salt: toBase64(salt) }
  if (!secret) return { ...header, keys: toBase64(keys) }
  return {
    ...header,
    keys: await encryptBytes(await deriveWrappingKey(secret.value, salt), getKeysContext(header), keys),
  }
}

async function hasSignedRecords(storage: Storage): Promise<boolean> {
  const settings = await storage.get(SETTINGS_KEY).catch(handleStorageError('read', SETTINGS_KEY))
  const record = settings && tryParseJson(settings.value)
  if (isObject(record) && record.mac !== undefined) return true
  return (await storage.list(KEYS_PREFIX, { limit: 1 }).catch(handleStorageError('list', KEYS_PREFIX))).length > 0
}

const createMissingSettingsError = () =>
  gatewayError('STORAGE_FAILED', {
    message:
      'The vault record is missing from the storage, and without it, no key or credential can be decrypted. Restore it from a backup.',
  })

/**
 * Replaces an unencrypted keyring's data key. The new key is stored together with the former one, both encrypted; the gateway that opens this record
 * re-encrypts everything. The lookup key neither decrypts nor signs anything, so it stays the same, and every key keeps its digest.
 */
async function replaceKeys(
  storage: Storage,
  { stored, record, currentSecret }: FoundKeyring & { currentSecret: VersionedSecret },
): Promise<void> {
  const previousKeys = readUnencryptedKeys(record)
  if (!record.isTakenOver) await createSettings(storage, await createKeyring(previousKeys))
  const keys = new Uint8Array(2 * KEYRING_BYTES)
  keys.set(previousKeys)
  keys.set(randomBytes(KEYRING_BYTES / 2))
  keys.set(previousKeys, KEYRING_BYTES)
  const keyringRecord = await wrapKeys(keys, currentSecret, { schema: 3, isTakenOver: false })
  await storage
    .set(KEYRING_KEY, JSON.stringify(keyringRecord), { ifVersion: stored.version })
    .catch(handleStorageError('write', KEYRING_KEY))
}
