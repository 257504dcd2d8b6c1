import { once } from '../lib/once.ts'
import type { Clock, Connection, CustomModel, Logger, Storage, Strategy } from '../types.ts'
import { type ComboRecord, createCombos } from './combos.ts'
import { createFreshness } from './freshness.ts'
import { createKeyring, KEYS, type KeyRecord, type Keyring } from './keyring.ts'
import { createRecords, type Records } from './records.ts'
import { createSettingsStore, type SettingsStore } from './settings.ts'
import type { Secret, Vault } from './vault.ts'

/** A stored connection, with its credential encrypted for this connection's id. */
export interface ConnectionRecord extends Omit<Connection, 'apiKey'> {
  sealedApiKey?: string
}

/** One alias of the model alias map: `alias` stands for the model name `model`. */
export interface AliasRecord {
  alias: string
  model: string
}

/** The strategy among a provider's connections. */
export interface ProviderRecord {
  provider: string
  strategy: Strategy
  /** Under `round-robin`: how many requests in a row each connection gets; default 1. */
  stickyLimit?: number
}

/** All records of the gateway. */
export interface Store {
  settings: SettingsStore
  /** By digest of the key's value. */
  keys: Records<KeyRecord>
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
}

export function createStore(options: StoreOptions): Store {
  const { storage, clock, turnEnd } = options
  const freshness = createFreshness(storage, clock, options.maxAgeMs)
  const deps = { storage, clock, freshness, turnEnd }
  const keys = createRecords<KeyRecord>(KEYS, { ...deps, hasSecretIds: true })
  const vault = once(async () => {
    const { openVault } = await import('./vault.ts')
    return openVault(options)
  })

  return {
    settings: createSettingsStore(deps),
    keys,
    connections: createRecords<ConnectionRecord>('connections/', { ...deps, hasSecretIds: true }),
    combos: createCombos(createRecords<ComboRecord>('combos/', deps)),
    customModels: createRecords<CustomModel>('custom-models/', deps),
    aliases: createRecords<AliasRecord>('aliases/', deps),
    providers: createRecords<ProviderRecord>('providers/', deps),
    keyring: createKeyring({ records: keys, vault, freshness, clock }),
    vault,
    close: freshness.close,
  }
}

/** The id of a custom model's record. */
export const customModelId = (model: { providerAlias: string; id: string }): string =>
  JSON.stringify([model.providerAlias, model.id])

/** A connection's decrypted credential; `undefined` when it has none. Rejects with `STORAGE_FAILED` when it was changed or moved. */
export async function openApiKey(
  store: Pick<Store, 'vault'>,
  connection: ConnectionRecord,
): Promise<string | undefined> {
  if (connection.sealedApiKey === undefined) return undefined
  return (await store.vault()).open(placeOfApiKey(connection.id), connection.sealedApiKey)
}

/** The place that a connection's encrypted credential is bound to. */
export const placeOfApiKey = (connectionId: string): string => `connections/${connectionId}/apiKey`

/** The place that a client key's encrypted value is bound to. */
export const placeOfKey = (keyId: string): string => `keys/${keyId}/key`
