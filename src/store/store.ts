import { once } from '../lib/once.ts'
import type { Clock, CustomModel, Logger, Storage } from '../types.ts'
import type { AliasRecord, ConnectionRecord, KeyRecord, ProviderRecord } from './collections.ts'
import { type ComboRecord, createCombos } from './combos.ts'
import { createDamageLog, type DamageLog } from './damage.ts'
import { createFreshness } from './freshness.ts'
import { createKeyring, type Keyring } from './keyring.ts'
import { openVault, type Secret } from './open-vault.ts'
import { isProvenKey, placeOfApiKey, provenKey } from './proofs.ts'
import { recordKinds } from './readings.ts'
import { createRecords, type Records } from './records.ts'
import { createSettingsStore, type SettingsStore } from './settings.ts'
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
  damage: DamageLog
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
  /** Hears of each record that cannot be read as it stands. */
  onError(error: unknown): void
}

export function createStore(options: StoreOptions): Store {
  const { storage, clock, turnEnd } = options
  const freshness = createFreshness(storage, clock, options.maxAgeMs)
  const damage = createDamageLog(options.onError)
  const deps = { storage, clock, freshness, damage, turnEnd }
  const keys = createRecords<KeyRecord>(recordKinds.keys, { ...deps, hasSecretIds: true })
  const vault = once(() => openVault(options))

  return {
    settings: createSettingsStore({ ...deps, vault }),
    keys: withProofs(keys, vault),
    isProvenKey: async (digest, record) => isProvenKey(await vault(), digest, record),
    connections: createRecords<ConnectionRecord>(recordKinds.connections, { ...deps, hasSecretIds: true }),
    combos: createCombos(createRecords<ComboRecord>(recordKinds.combos, deps)),
    customModels: createRecords<CustomModel>(recordKinds.customModels, deps),
    aliases: createRecords<AliasRecord>(recordKinds.aliases, deps),
    providers: createRecords<ProviderRecord>(recordKinds.providers, deps),
    keyring: createKeyring({ records: keys, vault, freshness, clock }),
    vault,
    damage,
    isWatched: freshness.isWatched,
    close: freshness.close,
  }
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
