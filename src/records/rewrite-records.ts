import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import type { Storage } from '../types.ts'
import { reencryptAccounts } from './account-records.ts'
import { getHeadersContext, isSignedGuard, signGuard } from './guard-records.ts'
import {
  areSignedSettings,
  getApiKeyContext,
  getIdentityContext,
  getKeyContext,
  isSignedGroup,
  isSignedKey,
  isSignedPreviousKey,
  type Keyring,
  signGroup,
  signKey,
  signPreviousKey,
  signSettings,
} from './keyring.ts'
import { mergeStored } from './merge-stored.ts'
import { recordKinds } from './readings.ts'
import {
  CLOUD_IDENTITIES_KEY,
  type ConnectionRecord,
  type GroupRecord,
  type KeyRecord,
  type PreviousKeyRecord,
  SETTINGS_KEY,
  type StoredGuard,
} from './record-collections.ts'
import { handleStorageError, retryOnConflict } from './storage-access.ts'
import { createStoredRecords, parseRecord, type RecordKind } from './stored-records.ts'
import { parseSettings, toSettings } from './stored-settings.ts'

/* Writes a store's first records, and encrypts records with new keys. Loaded with set-up-keyring.ts. */

/** Stores the default settings with their signature, unless the storage has settings. */
export const createSettings = (storage: Storage, keyring: Keyring): Promise<void> =>
  rewrite(storage, SETTINGS_KEY, async (text) => (text === undefined ? serializeSettings(keyring, {}) : undefined))

/**
 * Encrypts and signs with `keyring` everything that `previousKeyring` can decrypt or verify. Skips everything else, so it is safe to rerun or run
 * concurrently.
 */
export async function reencryptAll(storage: Storage, previousKeyring: Keyring, keyring: Keyring): Promise<void> {
  const reencrypt = async (context: string, encrypted: string) => {
    const plaintext = await previousKeyring.decrypt(context, encrypted).catch(() => undefined)
    return plaintext === undefined ? undefined : keyring.encrypt(context, plaintext)
  }
  await rewrite(storage, SETTINGS_KEY, (text) => resignSettings(text, previousKeyring, keyring))
  await rewriteAll<KeyRecord>(storage, recordKinds.keys, async (record, digest) => {
    const sealedKey = await reencrypt(getKeyContext(record.id), record.sealedKey)
    const updated = sealedKey === undefined ? undefined : { ...record, sealedKey }
    return (await isSignedKey(previousKeyring, digest, record)) ? signKey(keyring, digest, updated ?? record) : updated
  })
  await rewriteAll<PreviousKeyRecord>(storage, recordKinds.previousKeys, async (record, digest) =>
    (await isSignedPreviousKey(previousKeyring, digest, record)) ? signPreviousKey(keyring, digest, record) : undefined,
  )
  await rewriteAll<GroupRecord>(storage, recordKinds.groups, async (record, id) =>
    (await isSignedGroup(previousKeyring, id, record)) ? signGroup(keyring, id, record) : undefined,
  )
  await rewriteAll<StoredGuard>(storage, recordKinds.guards, async (record, name) => {
    const { sealedHeaders: encrypted } = record
    const sealedHeaders = encrypted === undefined ? undefined : await reencrypt(getHeadersContext(record), encrypted)
    const updated = sealedHeaders === undefined ? undefined : { ...record, sealedHeaders }
    return (await isSignedGuard(previousKeyring, name, record)) ? signGuard(keyring, name, updated ?? record) : updated
  })
  await reencryptAccounts(storage, previousKeyring, keyring)
  await rewriteAll<ConnectionRecord>(storage, recordKinds.connections, async (record) => {
    if (typeof record.sealedApiKey !== 'string') return undefined
    const sealedApiKey = await reencrypt(getApiKeyContext(record), record.sealedApiKey)
    return sealedApiKey === undefined ? undefined : { ...record, sealedApiKey }
  })
  await rewrite(storage, CLOUD_IDENTITIES_KEY, async (text) => {
    const identities = text === undefined ? undefined : tryParseJson(text)
    if (!isObject(identities)) return undefined
    const reencrypted: JsonObject = {}
    for (const [cloudUrl, encrypted] of Object.entries(identities))
      reencrypted[cloudUrl] = (await reencrypt(getIdentityContext(cloudUrl), String(encrypted))) ?? encrypted
    const reencryptedText = JSON.stringify(reencrypted)
    return reencryptedText === text ? undefined : reencryptedText
  })
}

/** Rewrites one page at a time. With a store that commits concurrent writes together, this takes seconds for 100,000 records. */
async function rewriteAll<T extends object>(
  storage: Storage,
  kind: RecordKind<T>,
  change: (record: T, id: string) => Promise<T | undefined>,
): Promise<void> {
  const storedRecords = createStoredRecords<T>(storage, kind)
  const rewriteText = async (key: string, text: string | undefined) => {
    const { entry } = text === undefined ? {} : parseRecord(key, text, kind)
    const changedRecord = entry && (await change(entry.record, entry.id))
    if (!entry || !changedRecord) return undefined
    const record = entry.stored ? mergeStored(entry.stored, entry.record, changedRecord) : changedRecord
    return JSON.stringify({ order: entry.order, record })
  }
  const rewriteRecord = (key: string) => rewrite(storage, key, (text) => rewriteText(key, text))
  for await (const page of storedRecords.pages())
    await Promise.all(page.map(({ id }) => rewriteRecord(storedRecords.getKey(id))))
}

/** Writes the result of `change`, unless it is `undefined`; retries if another write came first. */
async function rewrite(
  storage: Storage,
  key: string,
  change: (text: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  await retryOnConflict(async () => {
    const stored = await storage.get(key).catch(handleStorageError('read', key))
    const newText = await change(stored?.value)
    if (newText === undefined) return true
    const version = await storage
      .set(key, newText, { ifVersion: stored?.version ?? null })
      .catch(handleStorageError('write', key))
    return version !== false
  })
}

/** Serializes and signs settings. */
const serializeSettings = async (keyring: Keyring, members: JsonObject): Promise<string> =>
  JSON.stringify({ ...members, mac: await signSettings(keyring, toSettings(members)) })

/** Signs serialized settings with `keyring` if `previousKeyring` signed them; otherwise, resolves to `undefined`. */
async function resignSettings(
  text: string | undefined,
  previousKeyring: Keyring,
  keyring: Keyring,
): Promise<string | undefined> {
  const members = text === undefined ? undefined : parseSettings(text)
  if (!members || !(await areSignedSettings(previousKeyring, toSettings(members), members.mac))) return undefined
  return serializeSettings(keyring, members)
}
