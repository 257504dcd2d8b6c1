import { isObject, tryParseJson } from '../lib/json.ts'
import type { Storage } from '../types.ts'
import { CONNECTIONS, type ConnectionRecord, KEYS, type KeyRecord, SETTINGS } from './collections.ts'
import { storageFailure } from './failure.ts'
import { formerPlaceOfApiKey, isProvenKey, placeOfApiKey, provenKey } from './proofs.ts'
import { retryLostRace } from './retry-lost-race.ts'
import { takenOverSettings } from './settings.ts'
import { createStoredRecords, opened } from './stored-records.ts'
import type { Vault } from './vault.ts'

/** Is there a record that only a vault can have made? */
export async function hasProvenRecords(storage: Storage): Promise<boolean> {
  const settings = await storage.get(SETTINGS).catch(failed('read', SETTINGS))
  const record = settings && tryParseJson(settings.value)
  if (isObject(record) && record.mac !== undefined) return true
  return (await storage.list(KEYS, { limit: 1 }).catch(failed('list', KEYS))).length > 0
}

/**
 * Gives each record that a release before wrote its proof, and seals each credential for where it is sent. What has its proof already is
 * left alone, so that a second run, beside the first or after one that was cut, does no harm. Where the vault `isNew`, there can only be
 * settings. Rejects with `STORAGE_FAILED`.
 */
export async function takeOver(storage: Storage, vault: Vault, { isNew }: { isNew: boolean }): Promise<void> {
  await rewrite(storage, SETTINGS, (text) => takenOverSettings(vault, text))
  if (isNew) return
  await rewriteAll<KeyRecord>(storage, KEYS, async (record, digest) =>
    (await isProvenKey(vault, digest, record)) ? undefined : provenKey(vault, digest, record),
  )
  await rewriteAll<ConnectionRecord>(storage, CONNECTIONS, async (record) => {
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
  prefix: string,
  change: (record: T, id: string) => Promise<T | undefined>,
): Promise<void> {
  const stored = createStoredRecords<T>(storage, prefix)
  const changed = (key: string, id: string) => async (text: string | undefined) => {
    if (text === undefined) return undefined // deleted meanwhile
    const { order, record } = opened<T>(key, text)
    const next = await change(record, id)
    return next && JSON.stringify({ order, record: next })
  }
  for await (const page of stored.pages())
    await Promise.all(page.map(({ id }) => rewrite(storage, stored.keyOf(id), changed(stored.keyOf(id), id))))
}

/** Writes what `change` makes of the value, unless that is `undefined`; again when another writer was faster. */
async function rewrite(
  storage: Storage,
  key: string,
  change: (text: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  await retryLostRace(async () => {
    const stored = await storage.get(key).catch(failed('read', key))
    const next = await change(stored?.value)
    if (next === undefined) return true
    const version = await storage.set(key, next, { ifVersion: stored?.version ?? null }).catch(failed('write', key))
    return version !== false
  })
}

const failed = (what: 'read' | 'write' | 'list', key: string) => (cause: unknown) => {
  throw storageFailure(what, key, cause)
}
