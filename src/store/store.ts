import { derived, once } from '../lib/promises.ts'
import type { Clock, CustomModel, Logger, Storage } from '../types.ts'
import { createFreshness, type Freshness } from './cached.ts'
import {
  type AliasRecord,
  type ComboRecord,
  type ConnectionRecord,
  type FormerKeyRecord,
  type GroupRecord,
  type KeyRecord,
  type ProviderRecord,
  VAULT,
} from './collections.ts'
import { createKeyring, type KeyChanges, type Keyring } from './keyring.ts'
import { KnownGroups } from './known-groups.ts'
import { openVault, type Secret } from './open-vault.ts'
import { recordKinds } from './readings.ts'
import { createRecords, type Records } from './records.ts'
import { createSettingsStore, type SettingsStore } from './settings.ts'
import { createPatience, failedTo, isAway, timedStorage } from './storage-access.ts'
import { createDamageLog, type DamageLog } from './stored-records.ts'
import { type CryptoInPlace, placeOfApiKey, type Vault } from './vault.ts'

export type { AliasRecord, ConnectionRecord, KeyRecord, ProviderRecord } from './collections.ts'

/** All records of the gateway, as requests read them. Management uses a `WritableStore`, which adds the writes. */
export interface Store {
  settings: SettingsStore
  /** By digest of the key's value. */
  keys: Records<KeyRecord>
  /** Values of keys that were replaced, by their digests. */
  formerKeys: Records<FormerKeyRecord>
  /** Groups of keys, by id. */
  groups: Records<GroupRecord>
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
  keyring: Keyring & KeyChanges
  /** The groups of keys as requests read them. */
  knownGroups: KnownGroups
  /** With a time-out for each operation. */
  storage: Storage
  /** Which records cannot be read as they stand. */
  damage: DamageLog
  /** Does the storage report changes of others? */
  isWatched: boolean
  /** Tells whether what was read of the storage may still be used. */
  freshness: Freshness
  /** Lets others get their turn during long work. */
  turnEnd(): Promise<void>
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
  cryptoInPlace?: CryptoInPlace | undefined
  /** Are keys filed by their SHA-256 (vault.ts)? Default false. */
  filesBySha256?: boolean | undefined
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
  const patience = createPatience(clock)
  const deps = { storage, clock, freshness, patience, damage, turnEnd }
  const vault = once(() => openVault({ ...options, storage }))
  const sealed = { ...deps, storage: readOnceOpen(storage, vault), hasSecretIds: true }
  const keys = createRecords<KeyRecord>(recordKinds.keys, sealed)

  const settings = createSettingsStore({ ...deps, vault })
  const formerKeys = createRecords<FormerKeyRecord>(recordKinds.formerKeys, sealed)
  const groups = createRecords<GroupRecord>(recordKinds.groups, sealed)
  const connections = createRecords<ConnectionRecord>(recordKinds.connections, sealed)
  const combos = createCombos(createRecords<ComboRecord>(recordKinds.combos, deps))
  const customModels = createRecords<CustomModel>(recordKinds.customModels, deps)
  const aliases = createRecords<AliasRecord>(recordKinds.aliases, deps)
  const providers = createRecords<ProviderRecord>(recordKinds.providers, deps)
  const knownGroups = new KnownGroups({ ...deps, records: groups, vault })
  const keyring = createKeyring({ ...deps, records: keys, formerKeys, groups: knownGroups, vault })

  return {
    settings,
    keys,
    formerKeys,
    groups,
    connections,
    combos,
    customModels,
    aliases,
    providers,
    keyring,
    knownGroups,
    storage,
    damage,
    vault,
    isWatched: freshness.isWatched,
    freshness,
    turnEnd,
    close: freshness.close,
  }
}

/**
 * The storage, with reads that wait until its vault, if there is one, is open: opening it may seal records anew. A vault that is damaged keeps
 * none from being read.
 */
function readOnceOpen(storage: Storage, vault: () => Promise<Vault>): Storage {
  const opened = once(async () => {
    if (!(await storage.get(VAULT).catch(failedTo('read', VAULT)))) return
    await vault().catch((error: unknown) => {
      if (isAway(error)) throw error
    })
  })
  return {
    ...storage,
    get: (...args) => opened().then(() => storage.get(...args)),
    list: (...args) => opened().then(() => storage.list(...args)),
  }
}

/** A connection's decrypted credential; `undefined` when it has none. Rejects with `STORAGE_FAILED` when it was changed or moved. */
export async function openApiKey(
  store: Pick<Store, 'vault'>,
  connection: ConnectionRecord,
): Promise<string | undefined> {
  if (connection.sealedApiKey === undefined) return undefined
  return (await store.vault()).open(placeOfApiKey(connection), connection.sealedApiKey)
}

/** The number of credentials that are decrypted ahead of their use. */
const MAX_AHEAD = 50

/**
 * Decrypts the credentials of connections, each once until its record changes; failures are not cached. The first call decrypts the others
 * as well: the next attempt may need one, and all are removed from providers' errors.
 */
export function createCredentials(
  store: Pick<Store, 'vault' | 'connections'>,
): (connection: ConnectionRecord) => Promise<string | undefined> {
  const opened = new WeakMap<ConnectionRecord, Promise<string | undefined>>()
  let ahead: readonly ConnectionRecord[] | undefined

  function open(connection: ConnectionRecord): Promise<string | undefined> {
    const known = opened.get(connection)
    if (known !== undefined) return known
    const begun = openApiKey(store, connection)
    opened.set(connection, begun)
    begun.catch(() => opened.delete(connection))
    return begun
  }

  async function openOthers(): Promise<void> {
    const all = await store.connections.all()
    if (all === ahead) return
    ahead = all
    await Promise.allSettled(all.slice(0, MAX_AHEAD).map(open))
  }

  return (connection) => {
    if (!opened.has(connection)) void openOthers().catch(() => {}) // a request that needs them will hear of it
    return open(connection)
  }
}

/** The combo records, whose `all` returns each combo once. */
function createCombos(records: Records<ComboRecord>): Records<ComboRecord> {
  let last: { from: readonly ComboRecord[]; current: readonly ComboRecord[] } | undefined

  function current(from: readonly ComboRecord[]): readonly ComboRecord[] {
    if (last?.from !== from) last = { from, current: currentCombos(from) }
    return last.current
  }

  const currentOf = derived(current)
  return { ...records, all: () => currentOf(records.all()) }
}

/** The valid records: one for each combo. */
export function currentCombos(records: readonly ComboRecord[]): readonly ComboRecord[] {
  if (!records.some(isMoving)) return records
  const moved = new Set(records.map(({ id, name, movedTo }) => way(id, name, movedTo)))
  return records.filter(
    ({ id, name, from, movedTo }) => movedTo === undefined && (from === undefined || moved.has(way(id, from, name))),
  )
}

const isMoving = ({ from, movedTo }: ComboRecord) => from !== undefined || movedTo !== undefined

const way = (id: string, from: string, to: string | undefined) => JSON.stringify([id, from, to])
