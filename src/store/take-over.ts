import { isObject, tryParseJson } from '../lib/json.ts'
import type { Storage } from '../types.ts'
import { failedTo } from './away.ts'
import { type ConnectionRecord, KEYS, type KeyRecord, SETTINGS } from './collections.ts'
import { formerPlaceOfApiKey, isProvenKey, placeOfApiKey, provenKey } from './proofs.ts'
import { overStored, recordKinds } from './readings.ts'
import { retryLostRace } from './retry-lost-race.ts'
import { takenOverSettings } from './settings.ts'
import { createStoredRecords, openRecord, type RecordKind } from './stored-records.ts'
import type { Vault } from './vault.ts'

/** Is there a record that only a vault can have made? */
export async function hasProvenRecords(storage: Storage): Promise<boolean> {
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
export async function takeOver(storage: Storage, vault: Vault, { isNew }: { isNew: boolean }): Promise<void> {
  await rewrite(storage, SETTINGS, (text) => takenOverSettings(vault, text))
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
