import { once } from '../lib/once.ts'
import type { Clock, Connection, CustomModel, Logger, Storage, Strategy } from '../types.ts'
import { type ComboRecord, createCombos } from './combos.ts'
import { createFreshness } from './freshness.ts'
import { createKeyring, KEYS, type KeyRecord, type Keyring } from './keyring.ts'
import { createRecords, type Records } from './records.ts'
import { createSettingsStore, type SettingsStore } from './settings.ts'
import type { Secret, Vault } from './vault.ts'

/** A connection at rest: its credential is sealed, bound to the connection's id. */
export interface ConnectionRecord extends Omit<Connection, 'apiKey'> {
  sealedApiKey?: string
}

/** One alias of the model alias map: `alias` stands for the model name `model`. */
export interface AliasRecord {
  alias: string
  model: string
}

/** How a provider's connections are chosen among. */
export interface ProviderRecord {
  provider: string
  strategy: Strategy
  /** Under `round-robin`: so many requests in a row for each connection; default 1. */
  stickyLimit?: number
}

/** Everything the gateway keeps, one record a storage key. */
export interface Store {
  settings: SettingsStore
  /** By digest of the key's value. */
  keys: Records<KeyRecord>
  /** By id. */
  connections: Records<ConnectionRecord>
  /** By name, which makes names unique by construction. */
  combos: Records<ComboRecord>
  /** By `customModelId`. */
  customModels: Records<CustomModel>
  /** By alias. */
  aliases: Records<AliasRecord>
  /** By provider id. */
  providers: Records<ProviderRecord>
  keyring: Keyring & { forget(digest: string): void }
  /** Opened on first use; a failure is not remembered. */
  vault(): Promise<Vault>
  close(): void
}

export interface StoreOptions {
  storage: Storage
  clock: Clock
  logger: Logger
  secret?: Secret | undefined
  /** How long what was read from a storage without `watch` is used; default 1,000. */
  maxAgeMs?: number | undefined
}

export function createStore({ storage, clock, logger, secret, maxAgeMs }: StoreOptions): Store {
  const freshness = createFreshness(storage, clock, maxAgeMs)
  const deps = { storage, clock, freshness }
  const keys = createRecords<KeyRecord>(KEYS, { ...deps, hasSecretIds: true })
  const vault = once(async () => {
    const { openVault } = await import('./vault.ts')
    return openVault(storage, secret, logger)
  })

  return {
    settings: createSettingsStore(deps),
    keys,
    connections: createRecords<ConnectionRecord>('connections/', deps),
    combos: createCombos(createRecords<ComboRecord>('combos/', deps)),
    customModels: createRecords<CustomModel>('custom-models/', deps),
    aliases: createRecords<AliasRecord>('aliases/', deps),
    providers: createRecords<ProviderRecord>('providers/', deps),
    keyring: createKeyring({ records: keys, vault, freshness, clock }),
    vault,
    close: freshness.close,
  }
}

/** A custom model's place in the store. */
export const customModelId = (model: { providerAlias: string; id: string }): string =>
  JSON.stringify([model.providerAlias, model.id])

/** A connection's credential in clear, or `undefined` when it has none. Throws `STORAGE_FAILED` when it was tampered with. */
export async function openApiKey(
  store: Pick<Store, 'vault'>,
  connection: ConnectionRecord,
): Promise<string | undefined> {
  if (connection.sealedApiKey === undefined) return undefined
  return (await store.vault()).open(placeOfApiKey(connection.id), connection.sealedApiKey)
}

/** What a connection's sealed credential is bound to. */
export const placeOfApiKey = (connectionId: string): string => `connections/${connectionId}/apiKey`

/** What a client key's sealed value is bound to. */
export const placeOfKey = (keyId: string): string => `keys/${keyId}/key`
