import { gatewayError } from '../errors.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { JsonObject } from '../lib/json.ts'
import { createMutex, type Mutex } from '../lib/promises.ts'
import type { Clock, CustomModel, Storage } from '../types.ts'
import type {
  AliasRecord,
  ComboRecord,
  ConnectionRecord,
  FormerKeyRecord,
  GroupRecord,
  KeyRecord,
  ProviderRecord,
} from './collections.ts'
import { recordKinds } from './readings.ts'
import { type WritableRecords, writableRecords } from './record-writes.ts'
import { createRepair, type Repair } from './repair.ts'
import { type WritableSettings, writableSettings } from './settings-writes.ts'
import { failedTo } from './storage-access.ts'
import { openApiKey, type Store } from './store.ts'
import { openRecord, type RecordKind } from './stored-records.ts'
import { isProvenGroup, isProvenKey, provenFormerKey, provenGroup, provenKey } from './vault.ts'

/** The store with all that changes it. Only management has one, so that requests load none of this. */
export interface WritableStore extends Store {
  /** Each is written with its proof, and the keyring follows each change. */
  keys: WritableRecords<KeyRecord>
  /** The same for values of keys that were replaced. */
  formerKeys: WritableRecords<FormerKeyRecord>
  /** The same for groups of keys. */
  groups: WritableRecords<GroupRecord>
  settings: WritableSettings
  connections: WritableRecords<ConnectionRecord>
  combos: WritableRecords<ComboRecord>
  customModels: WritableRecords<CustomModel>
  aliases: WritableRecords<AliasRecord>
  providers: WritableRecords<ProviderRecord>
  /** Is the record of a key as a gateway with this secret wrote it? */
  isProvenKey(digest: string, record: KeyRecord): Promise<boolean>
  /** The same for the record of a group. */
  isProvenGroup(id: string, record: GroupRecord): Promise<boolean>
  /** The records that cannot be read as they stand. */
  repair: Repair
  /** Runs work alone among all gateways on the storage. */
  alone: Alone
}

const made = new WeakMap<Store, WritableStore>()

/** The same for the same store, so that all its writers know of each other. */
export function createWritableStore(store: Store, clock: Clock): WritableStore {
  const known = made.get(store) ?? makeWritableStore(store, clock)
  made.set(store, known)
  return known
}

function makeWritableStore(store: Store, clock: Clock): WritableStore {
  const {
    storage,
    damage,
    settings,
    keys,
    formerKeys,
    groups,
    connections,
    combos,
    customModels,
    aliases,
    providers,
    vault,
  } = store
  const { keyring, knownGroups } = store
  const keyProof: Proven<KeyRecord> = {
    kind: recordKinds.keys,
    prove: async (digest, record) => provenKey(await vault(), digest, record),
    follow: keyring,
  }
  const formerKeyProof: Proven<FormerKeyRecord> = {
    kind: recordKinds.formerKeys,
    prove: async (digest, record) => provenFormerKey(await vault(), digest, record),
    follow: {
      forget: keyring.formerChanged,
      changed: keyring.formerChanged,
      mayHaveChanged: keyring.formerChanged,
    },
  }
  const groupProof: Proven<GroupRecord> = {
    kind: recordKinds.groups,
    prove: async (id, record) => provenGroup(await vault(), id, record),
    follow: knownGroups,
  }
  const repair = createRepair({
    storage,
    damage,
    settings,
    vault,
    repairables: [
      {
        kind: recordKinds.keys,
        records: keys,
        complete: (key, record) => proven(key, record, keyProof),
        problemOf: async (digest, record) =>
          (await isProvenKey(await vault(), digest, record as KeyRecord)) ? undefined : UNPROVEN, // of this kind
      },
      {
        kind: recordKinds.formerKeys,
        records: formerKeys,
        complete: (key, record) => proven(key, record, formerKeyProof),
      },
      {
        kind: recordKinds.groups,
        records: groups,
        complete: (key, record) => proven(key, record, groupProof),
        problemOf: async (id, record) =>
          (await isProvenGroup(await vault(), id, record as GroupRecord)) ? undefined : UNPROVEN_GROUP, // of this kind
      },
      {
        kind: recordKinds.connections,
        records: connections,
        problemOf: (_, record) =>
          openApiKey({ vault }, record as ConnectionRecord).then(
            () => undefined,
            () => UNOPENED,
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
    settings: writableSettings(settings),
    keys: withProofs(writableRecords(keys), keyProof),
    formerKeys: withProofs(writableRecords(formerKeys), formerKeyProof),
    groups: withProofs(writableRecords(groups), groupProof),
    connections: writableRecords(connections),
    combos: writableRecords(combos),
    customModels: writableRecords(customModels),
    aliases: writableRecords(aliases),
    providers: writableRecords(providers),
    isProvenKey: async (digest, record) => isProvenKey(await vault(), digest, record),
    isProvenGroup: async (id, record) => isProvenGroup(await vault(), id, record),
    repair,
    alone: createAlone({ storage, clock }),
  }
}

const UNPROVEN = 'was not written by a gateway with this secret, and the key is refused: pause, resume or delete it'
const UNPROVEN_GROUP =
  'was not written by a gateway with this secret, and its keys are refused: pause, resume or delete it'
const UNOPENED = 'has a credential that cannot be opened. Give the connection its "apiKey" again'

/** A kind of records that each have a proof, and the cache through which requests read them. */
interface Proven<T> {
  kind: RecordKind<T>
  prove(id: string, record: T): Promise<T>
  /** Called with each change. */
  follow: { forget(id: string): void; changed(id: string, record: T): void; mayHaveChanged(id: string): void }
}

/** A record with its proof, if it can be read at all. */
async function proven<T extends { mac?: string }>(
  key: string,
  record: JsonObject,
  { kind, prove }: Proven<T>,
): Promise<JsonObject> {
  const { entry } = openRecord(key, JSON.stringify({ order: 0, record }), kind)
  return entry ? { ...record, mac: (await prove(entry.id, entry.record)).mac } : record
}

/** Records that are each written with their proof, and with their change made known to what requests know of them. */
function withProofs<T>(records: WritableRecords<T>, { prove, follow }: Proven<T>): WritableRecords<T> {
  return {
    ...records,
    insert: async (id, record, order) =>
      records.insert(id, await prove(id, record), order).finally(() => follow.forget(id)),
    async update(id, change) {
      const updating = records.update(id, async (current, version) => {
        const next = await change(current, version)
        return next && prove(id, next)
      })
      const updated = await updating.catch((error: unknown) => {
        follow.mayHaveChanged(id)
        throw error
      })
      if (updated) follow.changed(id, updated)
      else follow.forget(id)
      return updated
    },
    upsert: async (id, record) => records.upsert(id, await prove(id, record)).finally(() => follow.forget(id)),
    remove: (id, onlyIf) => records.remove(id, onlyIf).finally(() => follow.forget(id)),
  }
}

/** The id of a custom model's record. */
export const customModelId = (model: { providerAlias: string; id: string }): string =>
  JSON.stringify([model.providerAlias, model.id])

/**
 * Runs work alone among all gateways on an atomic storage, and on any other among the calls of this one. `ready` is to be called, and throws
 * `STORAGE_UNAVAILABLE` when the turn is nearly over, just before the write that decides.
 */
type Alone = <T>(name: string, work: (ready: () => void) => Promise<T>) => Promise<T>

/** How long a gateway that ended during its turn keeps others waiting, in ms. */
const LEASE_MS = 10_000
/** From the start of the turn to the start of the write; the write itself is given five seconds (storage-access.ts). */
const READY_WITHIN_MS = 4_000
/** How long a gateway waits for its turn; between two attempts it waits for half of `PAUSE_MS` or up to all of it. */
const PATIENCE_MS = 4_000
const PAUSE_MS = 20

/** A turn is a record `turns/<name>` that one gateway has made and that expires. */
function createAlone({ storage, clock }: { storage: Storage; clock: Clock }): Alone {
  const mutexes = new Map<string, Mutex>()
  const owner = crypto.randomUUID()

  /** The version of the record, if it could be made. One of this gateway's own is left of a reply that was lost. */
  async function take(key: string): Promise<string | false> {
    const taken = await storage.set(key, owner, { ifVersion: null, ttlMs: LEASE_MS })
    if (taken !== false) return taken
    const current = await storage.get(key)
    if (current?.value !== owner) return false
    return storage.set(key, owner, { ifVersion: current.version, ttlMs: LEASE_MS })
  }

  async function inStorage<T>(key: string, work: (ready: () => void) => Promise<T>): Promise<T> {
    const since = clock.now()
    for (;;) {
      const startedAt = clock.now()
      const version = await take(key).catch(failedTo('write', key))
      if (version === false) {
        if (clock.now() - since > PATIENCE_MS) throw unavailable('Another gateway is making a change.')
        await pause(clock)
        continue
      }
      try {
        return await work(() => {
          if (clock.now() - startedAt > READY_WITHIN_MS) throw unavailable('The storage answers too slowly.')
        })
      } finally {
        await storage.delete(key, { ifVersion: version }).catch(() => {}) // it expires
      }
    }
  }

  return (name, work) => {
    const mutex = mutexes.get(name) ?? createMutex()
    mutexes.set(name, mutex)
    return mutex(() => (storage.atomic ? inStorage(`turns/${name}`, work) : work(() => {})))
  }
}

const unavailable = (why: string) =>
  gatewayError('STORAGE_UNAVAILABLE', { message: `${why} Nothing was written; try again.` })

const pause = (clock: Clock) =>
  new Promise<void>((resolve) => void startDeadline(clock, PAUSE_MS * (0.5 + jitter() / 2), resolve))

/** From 0 to 1, so that processes that wait do not try again in step. */
const jitter = () => (crypto.getRandomValues(new Uint8Array(1))[0] ?? 0) / 255
