import type { JsonObject } from '../lib/json.ts'
import { once } from '../lib/once.ts'
import type { Clock, CustomModel, Logger, Storage } from '../types.ts'
import { timedStorage } from './away.ts'
import type { AliasRecord, ConnectionRecord, KeyRecord, ProviderRecord } from './collections.ts'
import { type ComboRecord, createCombos } from './combos.ts'
import { createDamageLog } from './damage.ts'
import { createFreshness } from './freshness.ts'
import { createKeyring, type Keyring } from './keyring.ts'
import { openVault, type Secret } from './open-vault.ts'
import { isProvenKey, placeOfApiKey, provenKey } from './proofs.ts'
import { recordKinds } from './readings.ts'
import { createRecords, type Records } from './records.ts'
import { createRepair, type Repair } from './repair.ts'
import { createSettingsStore, type SettingsStore } from './settings.ts'
import { openRecord } from './stored-records.ts'
import type { Vault } from './vault.ts'

export type { AliasRecord, ConnectionRecord, KeyRecord, ProviderRecord } from './collections.ts'

/** All records of the gateway. */
export interface Store {
  settings: SettingsStore
  /** By digest of the key's value. Each is written with its proof. */
  keys: Records<KeyRecord>
  /** Is the record of a key as a gateway with this secret wrote it? */
  isProvenKey(digest: string, record: KeyRecord): Promise<boolean>
  /** By id. */
  connections: Records<ConnectionRecord>
  /** By name, which is unique therefore. */
  combos: Records<ComboRecord>
  /** By `customModelId`. */
  customModels: Records<CustomModel>
  /** By alias. */
  aliases: Records<AliasRecord>
  /** By provider id. */
  providers: Records<ProviderRecord>
  keyring: Keyring & { forget(digest: string): void }
  /** The records that cannot be read as they stand. */
  repair: Repair
  /** Does the storage report changes of others? */
  isWatched: boolean
  /** Opened on first use; a failure is not cached. */
  vault(): Promise<Vault>
  close(): void
}

export interface StoreOptions {
  storage: Storage
  clock: Clock
  logger: Logger
  secret?: Secret | undefined
  /** How old data from a storage without `watch` may be, in ms; default 1,000. */
  maxAgeMs?: number | undefined
  /** Lets others get their turn during long work. */
  turnEnd(): Promise<void>
  /** Called with an error for each record that cannot be read as it stands. */
  onError(error: unknown): void
}

export function createStore(options: StoreOptions): Store {
  const { clock, turnEnd } = options
  const storage = timedStorage(options.storage, clock)
  const freshness = createFreshness(storage, clock, options.maxAgeMs)
  const damage = createDamageLog(options.onError)
  const deps = { storage, clock, freshness, damage, turnEnd }
  const keys = createRecords<KeyRecord>(recordKinds.keys, { ...deps, hasSecretIds: true })
  const vault = once(() => openVault({ ...options, storage }))

  const settings = createSettingsStore({ ...deps, vault })
  const connections = createRecords<ConnectionRecord>(recordKinds.connections, { ...deps, hasSecretIds: true })
  const combos = createCombos(createRecords<ComboRecord>(recordKinds.combos, deps))
  const customModels = createRecords<CustomModel>(recordKinds.customModels, deps)
  const aliases = createRecords<AliasRecord>(recordKinds.aliases, deps)
  const providers = createRecords<ProviderRecord>(recordKinds.providers, deps)
  const keyring = createKeyring({ records: keys, vault, freshness, clock })

  return {
    settings,
    keys: withProofs(keys, vault),
    isProvenKey: async (digest, record) => isProvenKey(await vault(), digest, record),
    connections,
    combos,
    customModels,
    aliases,
    providers,
    keyring,
    repair: createRepair({
      storage,
      damage,
      settings,
      repairables: [
        { kind: recordKinds.keys, records: keys, complete: (key, record) => proven(key, record, vault) },
        { kind: recordKinds.connections, records: connections },
        { kind: recordKinds.combos, records: combos },
        { kind: recordKinds.customModels, records: customModels },
        { kind: recordKinds.aliases, records: aliases },
        { kind: recordKinds.providers, records: providers },
      ],
    }),
    vault,
    isWatched: freshness.isWatched,
    close: freshness.close,
  }
}

/** A key's record with its proof, if it can be read at all. */
async function proven(key: string, record: JsonObject, vault: () => Promise<Vault>): Promise<JsonObject> {
  const { entry } = openRecord(key, JSON.stringify({ order: 0, record }), recordKinds.keys)
  return entry ? { ...record, mac: (await provenKey(await vault(), entry.id, entry.record)).mac } : record
}

/** The records of keys, each written with its proof. */
const withProofs = (keys: Records<KeyRecord>, vault: () => Promise<Vault>): Records<KeyRecord> => ({
  ...keys,
  insert: async (digest, record, order) => keys.insert(digest, await provenKey(await vault(), digest, record), order),
  update: (digest, change) =>
    keys.update(digest, async (current) => {
      const next = await change(current)
      return next && provenKey(await vault(), digest, next)
    }),
  upsert: async (digest, record) => keys.upsert(digest, await provenKey(await vault(), digest, record)),
})

/** The id of a custom model's record. */
export const customModelId = (model: { providerAlias: string; id: string }): string =>
  JSON.stringify([model.providerAlias, model.id])

/** A connection's decrypted credential; `undefined` when it has none. Rejects with `STORAGE_FAILED` when it was changed or moved. */
export async function openApiKey(
  store: Pick<Store, 'vault'>,
  connection: ConnectionRecord,
): Promise<string | undefined> {
  if (connection.sealedApiKey === undefined) return undefined
  return (await store.vault()).open(placeOfApiKey(connection), connection.sealedApiKey)
}
