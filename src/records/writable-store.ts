import { gatewayError } from '../errors.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { JsonObject } from '../lib/json.ts'
import { createMutex, type Mutex } from '../lib/promises.ts'
import type { Clock, CustomModel, Storage } from '../types.ts'
import { decryptHeaders, isTrustedGuard, signGuard } from './guard-records.ts'
import { createKeyAccess } from './key-access.ts'
import { isSignedGroup, isSignedKey, signGroup, signKey, signPreviousKey } from './keyring.ts'
import { isGroupInCode, toClientGroup } from './known-groups.ts'
import { recordKinds } from './readings.ts'
import type {
  AliasRecord,
  ComboRecord,
  ConnectionRecord,
  GroupRecord,
  KeyRecord,
  PreviousKeyRecord,
  ProviderRecord,
  StoredGuard,
} from './record-collections.ts'
import { createWritableRecords, type WritableRecords } from './record-writes.ts'
import { createRepair, type Repair } from './repair.ts'
import { createWritableSettings, type WritableSettings } from './settings-writes.ts'
import { handleStorageError } from './storage-access.ts'
import { decryptApiKey, type Store } from './store.ts'
import { parseRecord, type RecordKind } from './stored-records.ts'

/** The store with its write operations. Only management uses it, so requests don't load this code. */
export interface WritableStore extends Store {
  /** The keys. Writes sign the record, and update its cached copy for requests. */
  keys: WritableRecords<KeyRecord>
  /** Previous values of keys, with the same writes as `keys`. */
  previousKeys: WritableRecords<PreviousKeyRecord>
  /** The groups, with the same writes as `keys`. */
  groups: WritableRecords<GroupRecord>
  /** The guards. Writes sign the record. */
  guards: WritableRecords<StoredGuard>
  settings: WritableSettings
  connections: WritableRecords<ConnectionRecord>
  combos: WritableRecords<ComboRecord>
  customModels: WritableRecords<CustomModel>
  aliases: WritableRecords<AliasRecord>
  providers: WritableRecords<ProviderRecord>
  /** Resolves to whether a gateway with this secret wrote the key's record. */
  isSignedKey(digest: string, record: KeyRecord): Promise<boolean>
  /** Resolves to whether a gateway with this secret wrote the group's record, or the app defined it in code. */
  isSignedGroup(id: string, record: GroupRecord): Promise<boolean>
  /** Resolves to whether a gateway with this secret wrote the guard's record, or the guard is defined in code. */
  isSignedGuard(record: StoredGuard): Promise<boolean>
  /** Repairs damaged records. */
  repair: Repair
  runExclusive: RunExclusive
}

const writableStores = new WeakMap<Store, WritableStore>()

/** Returns the same object for the same store, so all of its writers share their state. */
export function getWritableStore(store: Store, clock: Clock): WritableStore {
  const writableStore = writableStores.get(store) ?? buildWritableStore(store, clock)
  writableStores.set(store, writableStore)
  return writableStore
}

function buildWritableStore(store: Store, clock: Clock): WritableStore {
  const {
    storage,
    damage,
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
    keyring,
  } = store
  const { cache: keyCache, groups: groupCache } = store.openKeyAccess(createKeyAccess)
  const isTrustedGroup = async (id: string, record: GroupRecord) =>
    isGroupInCode(store.code, id) || isSignedGroup(await keyring(), id, record)
  const forgetPrevious = (digest: string) => keyCache.forgetPrevious(digest)
  const signedKeys: SignedKind<KeyRecord> = {
    kind: recordKinds.keys,
    sign: async (digest, record) => signKey(await keyring(), digest, record),
    cache: keyCache,
  }
  const signedPreviousKeys: SignedKind<PreviousKeyRecord> = {
    kind: recordKinds.previousKeys,
    sign: async (digest, record) => signPreviousKey(await keyring(), digest, record),
    cache: { forget: forgetPrevious, update: forgetPrevious, expire: forgetPrevious },
  }
  const signedGroups: SignedKind<GroupRecord> = {
    kind: recordKinds.groups,
    sign: async (id, record) => signGroup(await keyring(), id, record),
    cache: {
      forget: (id) => groupCache.forget(id),
      update: (id, record) => groupCache.update(id, toClientGroup(record)),
      expire: (id) => groupCache.expire(id),
    },
  }
  const signedGuards: SignedKind<StoredGuard> = {
    kind: recordKinds.guards,
    sign: async (name, record) => signGuard(await keyring(), name, record),
    cache: { forget() {}, update() {}, expire() {} }, // no cache, because requests use the stored records directly
  }
  const repair = createRepair({
    storage,
    damage,
    settings,
    keyring,
    repairables: [
      {
        kind: recordKinds.keys,
        records: keys,
        complete: (key, record) => completeRecord(key, record, signedKeys),
        findProblem: async (digest, record) =>
          (await isSignedKey(await keyring(), digest, record as KeyRecord)) ? undefined : UNSIGNED_KEY_MESSAGE, // this collection contains only keys
      },
      {
        kind: recordKinds.previousKeys,
        records: previousKeys,
        complete: (key, record) => completeRecord(key, record, signedPreviousKeys),
      },
      {
        kind: recordKinds.groups,
        records: groups,
        complete: (key, record) => completeRecord(key, record, signedGroups),
        findProblem: async (id, record) =>
          (await isTrustedGroup(id, record as GroupRecord)) ? undefined : UNSIGNED_GROUP_MESSAGE, // this collection contains only groups
      },
      {
        kind: recordKinds.guards,
        records: guards,
        complete: (key, record) => completeRecord(key, record, signedGuards),
        findProblem: async (_, record) => {
          const guard = record as StoredGuard // this collection contains only guards
          if (!(await isTrustedGuard(store, guard))) return UNSIGNED_GUARD_MESSAGE
          return decryptHeaders(keyring, guard).then(
            () => undefined,
            () => UNREADABLE_HEADERS,
          )
        },
      },
      {
        kind: recordKinds.connections,
        records: connections,
        findProblem: (_, record) =>
          decryptApiKey(store, record as ConnectionRecord).then(
            () => undefined,
            () => UNREADABLE_CREDENTIAL_MESSAGE,
          ),
      },
      { kind: recordKinds.combos, records: combos },
      { kind: recordKinds.customModels, records: customModels },
      { kind: recordKinds.aliases, records: aliases },
      { kind: recordKinds.providers, records: providers },
    ],
  })

  return {
    ...store,
    settings: createWritableSettings(settings),
    keys: withSignatures(createWritableRecords(keys), signedKeys),
    previousKeys: withSignatures(createWritableRecords(previousKeys), signedPreviousKeys),
    groups: withSignatures(createWritableRecords(groups), signedGroups),
    guards: withSignatures(createWritableRecords(guards), signedGuards),
    connections: createWritableRecords(connections),
    combos: createWritableRecords(combos),
    customModels: createWritableRecords(customModels),
    aliases: createWritableRecords(aliases),
    providers: createWritableRecords(providers),
    isSignedKey: async (digest, record) => isSignedKey(await keyring(), digest, record),
    isSignedGroup: isTrustedGroup,
    isSignedGuard: (record) => isTrustedGuard(store, record),
    repair,
    runExclusive: createExclusiveRunner({ storage, clock }),
  }
}

const UNSIGNED_KEY_MESSAGE =
  'was not written by a gateway with this secret, so the key is rejected: pause, resume, or delete it'
const UNSIGNED_GROUP_MESSAGE =
  'was not written by a gateway with this secret, so its keys are rejected: pause, resume, or delete it'
const UNSIGNED_GUARD_MESSAGE =
  'was not written by a gateway with this secret, so requests that need the guard are rejected: save it again, or delete it'
const describeUnreadable = (field: string) => `has a credential that cannot be decrypted. Set the ${field} again`
const UNREADABLE_HEADERS = describeUnreadable('guard\'s "headers"')
const UNREADABLE_CREDENTIAL_MESSAGE = describeUnreadable('connection\'s "apiKey"')

/** A type of signed records, and the cache that requests use to read them. */
interface SignedKind<T> {
  kind: RecordKind<T>
  sign(id: string, record: T): Promise<T>
  /** The cache, which is notified of each change. */
  cache: { forget(id: string): void; update(id: string, record: T): void; expire(id: string): void }
}

async function completeRecord<T extends { mac?: string }>(
  key: string,
  record: JsonObject,
  { kind, sign }: SignedKind<T>,
): Promise<JsonObject> {
  const { entry } = parseRecord(key, JSON.stringify({ order: 0, record }), kind)
  return entry ? { ...record, mac: (await sign(entry.id, entry.record)).mac } : record
}

/** Signs each record that is written and notifies the cache. */
function withSignatures<T>(records: WritableRecords<T>, { sign, cache }: SignedKind<T>): WritableRecords<T> {
  return {
    ...records,
    insert: async (id, record, order) =>
      records.insert(id, await sign(id, record), order).finally(() => cache.forget(id)),
    async update(id, change) {
      const pendingUpdate = records.update(id, async (current, version) => {
        const changedRecord = await change(current, version)
        return changedRecord && sign(id, changedRecord)
      })
      const updatedRecord = await pendingUpdate.catch((error: unknown) => {
        cache.expire(id)
        throw error
      })
      if (updatedRecord) cache.update(id, updatedRecord)
      else cache.forget(id)
      return updatedRecord
    },
    replaceDamaged: async (id, record) =>
      records.replaceDamaged(id, await sign(id, record)).finally(() => cache.forget(id)),
    upsert: async (id, record) => records.upsert(id, await sign(id, record)).finally(() => cache.forget(id)),
    remove: (id, onlyIf) => records.remove(id, onlyIf).finally(() => cache.forget(id)),
  }
}

/**
 * Runs work exclusively: among all gateways if the storage is atomic, otherwise among this gateway's calls. Call `assertLease` just before the
 * decisive write; it throws `STORAGE_UNAVAILABLE` if the lease is about to end.
 */
type RunExclusive = <T>(name: string, work: (assertLease: () => void) => Promise<T>) => Promise<T>

/** The lease's TTL, in ms. If a gateway dies while it holds the lease, no other gateway can acquire it before that. */
const LEASE_MS = 10_000
/** The maximum time from the start of the lease to the start of the write, in ms; the write itself has five seconds (storage-access.ts). */
const READY_WITHIN_MS = 4_000
/** How long a gateway waits for the lease, in ms; between attempts, it waits for 50% to 100% of `PAUSE_MS`. */
const MAX_WAIT_MS = 4_000
const PAUSE_MS = 20

/** Creates the function that runs work exclusively. A lease is a record `turns/<name>` that one gateway has created and that expires. */
function createExclusiveRunner({ storage, clock }: { storage: Storage; clock: Clock }): RunExclusive {
  const mutexes = new Map<string, Mutex>()
  const owner = crypto.randomUUID()

  /** Acquires the lease. Returns its record's version, or `false`. This gateway may already hold it if the storage's response was lost. */
  async function acquireLease(key: string): Promise<string | false> {
    const version = await storage.set(key, owner, { ifVersion: null, ttlMs: LEASE_MS, durability: 'relaxed' })
    if (version !== false) return version
    const lease = await storage.get(key)
    if (lease?.value !== owner) return false
    return storage.set(key, owner, { ifVersion: lease.version, ttlMs: LEASE_MS, durability: 'relaxed' })
  }

  async function runWithLease<T>(key: string, work: (assertLease: () => void) => Promise<T>): Promise<T> {
    const waitStartedAt = clock.now()
    for (;;) {
      const startedAt = clock.now()
      const version = await acquireLease(key).catch(handleStorageError('write', key))
      if (version === false) {
        if (clock.now() - waitStartedAt > MAX_WAIT_MS)
          throw createUnavailableError('Another gateway is making a change.')
        await pause(clock)
        continue
      }
      try {
        return await work(() => {
          if (clock.now() - startedAt > READY_WITHIN_MS) throw createUnavailableError('The storage is too slow.')
        })
      } finally {
        await storage.delete(key, { ifVersion: version }).catch(() => {}) // the lease expires anyway
      }
    }
  }

  return (name, work) => {
    const mutex = mutexes.get(name) ?? createMutex()
    mutexes.set(name, mutex)
    return mutex(() => (storage.atomic ? runWithLease(`turns/${name}`, work) : work(() => {})))
  }
}

const createUnavailableError = (reason: string) =>
  gatewayError('STORAGE_UNAVAILABLE', { message: `${reason} Nothing was written. Try again.` })

const pause = (clock: Clock) =>
  new Promise<void>((resolve) => void startDeadline(clock, PAUSE_MS * (0.5 + jitter() / 2), resolve))

/** Returns a random number from 0 to 1, so waiting processes don't retry in lockstep. */
const jitter = () => (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 255
