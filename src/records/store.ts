import { cacheDerived, once, trackValue } from '../lib/promises.ts'
import type { Clock, CustomModel, Logger, Storage } from '../types.ts'
import { createFreshnessTracker, type FreshnessTracker } from './cached.ts'
import { type CodeLayer, codeSecretId, createCodeLayer, withCodeRecords } from './code-records.ts'
import type { createKeyAccess, KeyAccess } from './key-access.ts'
import { getApiKeyContext, type Keyring, type SyncCrypto } from './keyring.ts'
import { createLazyReadAhead, type ExpectedCallers } from './lazy-read-ahead.ts'
import { openKeyring, type Secret } from './open-keyring.ts'
import { recordKinds } from './readings.ts'
import {
  type AliasRecord,
  type ComboRecord,
  type ConnectionRecord,
  type GroupRecord,
  KEYRING_KEY,
  type KeyRecord,
  type PreviousKeyRecord,
  type ProviderRecord,
  type StoredGuard,
} from './record-collections.ts'
import { createRecords, type Records } from './records.ts'
import { createStaleFallback, handleStorageError, isStorageUnavailable, withTimeouts } from './storage-access.ts'
import { createDamageLog, type DamageLog } from './stored-records.ts'
import { createSettingsStore, type SettingsStore } from './stored-settings.ts'

export type { AliasRecord, ConnectionRecord, KeyRecord, ProviderRecord } from './record-collections.ts'

/** All of the gateway's records, for requests. Management uses a `WritableStore`, which adds write operations. */
export interface Store {
  settings: SettingsStore
  /** Keys by the digest of their value. */
  keys: Records<KeyRecord>
  /** Keys' previous values, by digest. */
  previousKeys: Records<PreviousKeyRecord>
  /** Groups by ID. */
  groups: Records<GroupRecord>
  /** Guards by name. */
  guards: Records<StoredGuard>
  /** Connections by ID. */
  connections: Records<ConnectionRecord>
  /** Combos by name, which is therefore unique. */
  combos: Records<ComboRecord>
  /** Custom models by `getCustomModelId`. */
  customModels: Records<CustomModel>
  /** Aliases by name. */
  aliases: Records<AliasRecord>
  /** Provider strategies by provider ID. */
  providers: Records<ProviderRecord>
  /** Loads key access on demand, because not every gateway gets requests with a key. */
  loadKeyAccess(): Promise<KeyAccess>
  /** Opens key access, for code that imports it. */
  openKeyAccess(create: typeof createKeyAccess): KeyAccess
  /** Reads callers' records ahead. Absent if the storage reports changes or has no `getLinked`. */
  callers?: ExpectedCallers | undefined
  /** Resolves when key access is open. */
  openedKeyAccess: Promise<KeyAccess>
  /** The storage, with a timeout for each operation. */
  storage: Storage
  /** The log of damaged records. */
  damage: DamageLog
  /** Whether the storage reports changes by other writers. */
  isWatched: boolean
  freshness: FreshnessTracker
  /** The records and settings defined in code. */
  code: CodeLayer
  /** Yields to other work during a long task. */
  nextTurn(): Promise<void>
  /** Opens the keyring on first use. A failure isn't cached. */
  keyring(): Promise<Keyring>
  close(): void
}

export interface StoreOptions {
  storage: Storage
  clock: Clock
  logger: Logger
  secret?: Secret | undefined
  /** How old data from a store without `watch` may be, in ms. Default: 1,000. */
  maxAgeMs?: number | undefined
  syncCrypto?: SyncCrypto | undefined
  /** The records defined in code. Default: none. */
  code?: CodeLayer | undefined
  /** See `KeyringOptions`. */
  digestsSha256?: boolean | undefined
  /** Yields to other work during a long task. */
  nextTurn(): Promise<void>
  /** Called with an error for each damaged record. */
  onError(error: unknown): void
}

export function createStore(options: StoreOptions): Store {
  const { clock, nextTurn, code = createCodeLayer() } = options
  const findPreviousDigest = (credential: string) => keyAccess?.cache.get(credential)?.previous?.digest
  const { storage: baseStorage, callers } = options.storage.watch
    ? { storage: options.storage }
    : createLazyReadAhead({ ...options, findPreviousDigest })
  const storage = withTimeouts(withCodeRecords(baseStorage, code), clock)
  const freshness = createFreshnessTracker(storage, clock, options.maxAgeMs)
  const damage = createDamageLog(options.onError)
  const staleFallback = createStaleFallback(clock)
  const deps = { storage, clock, freshness, staleFallback, damage, nextTurn }
  const keyring = once(() => openKeyring({ ...options, storage }))
  const encryptedDeps = { ...deps, storage: waitForKeyring(storage, keyring), hasSecretIds: true }
  const keys = createRecords<KeyRecord>(recordKinds.keys, encryptedDeps)

  const settings = createSettingsStore({ ...deps, keyring, code })
  const previousKeys = createRecords<PreviousKeyRecord>(recordKinds.previousKeys, encryptedDeps)
  const groups = createRecords<GroupRecord>(recordKinds.groups, encryptedDeps)
  const guards = createRecords<StoredGuard>(recordKinds.guards, deps)
  const connections = createRecords<ConnectionRecord>(recordKinds.connections, encryptedDeps)
  const combos = withValidCombos(createRecords<ComboRecord>(recordKinds.combos, deps))
  const customModels = createRecords<CustomModel>(recordKinds.customModels, deps)
  const aliases = createRecords<AliasRecord>(recordKinds.aliases, deps)
  const providers = createRecords<ProviderRecord>(recordKinds.providers, deps)
  let keyAccess: KeyAccess | undefined
  let resolveKeyAccess: (keyAccess: KeyAccess) => void = () => {}
  const openedKeyAccess = new Promise<KeyAccess>((resolve) => {
    resolveKeyAccess = resolve
  })
  function openKeyAccess(create: typeof createKeyAccess): KeyAccess {
    keyAccess ??= create({ ...deps, records: keys, previousKeys, groups, keyring, code })
    resolveKeyAccess(keyAccess)
    return keyAccess
  }

  return {
    settings,
    keys,
    previousKeys,
    groups,
    guards,
    connections,
    combos,
    customModels,
    aliases,
    providers,
    loadKeyAccess: once(async () => openKeyAccess((await import('./key-access.ts')).createKeyAccess)),
    openKeyAccess,
    openedKeyAccess,
    callers,
    storage,
    damage,
    code,
    keyring,
    isWatched: freshness.isWatched,
    freshness,
    nextTurn,
    close: freshness.close,
  }
}

/**
 * Makes a store's reads wait until its keyring is open, if it has one, because opening it may re-encrypt records. If the keyring is damaged, the
 * records can still be read.
 */
function waitForKeyring(storage: Storage, keyring: () => Promise<Keyring>): Storage {
  const waitUntilOpen = once(async () => {
    if (!(await storage.get(KEYRING_KEY).catch(handleStorageError('read', KEYRING_KEY)))) return
    await keyring().catch((error: unknown) => {
      if (isStorageUnavailable(error)) throw error
    })
  })
  return {
    ...storage,
    get: (...args) => waitUntilOpen().then(() => storage.get(...args)),
    list: (...args) => waitUntilOpen().then(() => storage.list(...args)),
  }
}

/**
 * Decrypts a connection's credential. Resolves to `undefined` if it has none. Rejects with `STORAGE_FAILED` if the credential was changed or moved.
 */
export async function decryptApiKey(
  store: Pick<Store, 'keyring' | 'code'>,
  connection: ConnectionRecord,
): Promise<string | undefined> {
  const secret = store.code.records.secrets.get(codeSecretId(connection))
  if (typeof secret === 'string') return secret
  if (connection.sealedApiKey === undefined) return undefined
  return (await store.keyring()).decrypt(getApiKeyContext(connection), connection.sealedApiKey)
}

/** Maximum number of credentials to decrypt ahead of use. */
const MAX_PRELOADED = 50

/**
 * Decrypts each connection's credential once until its record changes; failures aren't cached. The first call also decrypts the other connections'
 * credentials, because the next attempt may need one of them, and because providers' error messages are scanned for all credentials.
 */
export function createCredentialCache(
  store: Pick<Store, 'keyring' | 'connections' | 'code'>,
): (connection: ConnectionRecord) => Promise<string | undefined> {
  const credentials = new WeakMap<ConnectionRecord, Promise<string | undefined>>()
  let preloadedConnections: readonly ConnectionRecord[] | undefined

  function decrypt(connection: ConnectionRecord): Promise<string | undefined> {
    const cached = credentials.get(connection)
    if (cached !== undefined) return cached
    const pendingCredential = trackValue(decryptApiKey(store, connection))
    credentials.set(connection, pendingCredential)
    pendingCredential.catch(() => credentials.delete(connection))
    return pendingCredential
  }

  async function preloadOthers(): Promise<void> {
    const connections = await store.connections.all()
    if (connections === preloadedConnections) return
    preloadedConnections = connections
    await Promise.allSettled(connections.slice(0, MAX_PRELOADED).map(decrypt))
  }

  return (connection) => {
    if (!credentials.has(connection)) void preloadOthers().catch(() => {}) // a request that needs one of these credentials gets the error
    return decrypt(connection)
  }
}

/** Makes `all` return each combo once, even during a rename. */
function withValidCombos(records: Records<ComboRecord>): Records<ComboRecord> {
  let lastRecords: readonly ComboRecord[] = []
  let validCombos: readonly ComboRecord[] = []
  const getValidCombos = cacheDerived((records: readonly ComboRecord[]) => {
    if (lastRecords !== records) validCombos = filterValidCombos(records)
    lastRecords = records
    return validCombos
  })
  return { ...records, all: () => getValidCombos(records.all()) }
}

/** Returns the valid records: one per combo, even during a rename. */
export function filterValidCombos(records: readonly ComboRecord[]): readonly ComboRecord[] {
  if (!records.some(({ from, movedTo }) => from !== undefined || movedTo !== undefined)) return records
  const renameIds = new Set(records.map(({ id, name, movedTo }) => getRenameId(id, name, movedTo)))
  return records.filter(
    ({ id, name, from, movedTo }) =>
      movedTo === undefined && (from === undefined || renameIds.has(getRenameId(id, from, name))),
  )
}

const getRenameId = (id: string, from: string, to: string | undefined) => JSON.stringify([id, from, to])
