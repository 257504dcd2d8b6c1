import { isObject, type JsonObject } from '../../lib/json.ts'
import { sha256Hex } from '../../records/keyring.ts'
import { handleStorageError } from '../../records/storage-access.ts'
import {
  createStoredRecords,
  type RecordKind,
  type StoredEntry,
  type StoredRecords,
} from '../../records/stored-records.ts'
import type { WritableStore } from '../../records/writable-store.ts'
import type { Clock } from '../../types.ts'
import type { Active, Registers } from './merge.ts'
import { type Collection, collections, type Revision } from './protocol.ts'
import type { StateId } from './sync-types.ts'

/** The last known state of a record, used to detect changes and to finish interrupted ones. */
export interface Shadow extends ShadowState {
  id: string
  /** The record's last slot, if it isn't the record's ID. */
  slot?: string
  /** The state that is being written. */
  applying?: ShadowState
  /** The record, while another record occupies its slot. During that time, the record isn't in its collection. */
  parked?: { slot: string; record: JsonObject }
  /** Digests that may be claimed in addition to the record's own. */
  claims?: string[]
}

/** A record's state, and whether the other side has it. */
export interface ShadowState extends Registers {
  /** Whether the other side has confirmed the state. */
  isSeen: boolean
  /** Whether this side may have been restored from an old copy since the other side confirmed a state. */
  isUncertain?: boolean
  /**
   * Identifies the last call that wrote the settings or set whether the record is active. A different call counts as a change, even with the same
   * values.
   */
  edit?: string
}

/** Returns the shadow with the new state. */
export function withRegisters(shadow: Shadow, nextState: ShadowState): Shadow {
  const { hash, revision, base, active, edit, isSeen, isUncertain, ...otherFields } = shadow
  return { ...otherFields, ...nextState }
}

/** Returns the shadow with its state marked as confirmed by the other side. */
export function confirmShadow({ base, isUncertain, active, ...shadow }: Shadow): Shadow {
  return {
    ...shadow,
    ...(active && { active: { isActive: active.isActive, revision: active.revision } }),
    isSeen: true,
  }
}

/** A shadow as last read or written. */
export interface KnownShadow {
  readonly shadow: Shadow
  readonly version: string
  /** The number of the last scan that found the record. */
  lastScan?: number
}

export const SHADOWS_PREFIX = 'cloud/shadows/'

/** The shadows of one collection. */
class ShadowTable {
  readonly storedRecords: StoredRecords<Shadow>
  readonly shadowsById = new Map<string, KnownShadow>()
  readonly parkedIds = new Set<string>()
  readonly uncertainIds = new Set<string>()

  constructor({ storage, nextTurn }: WritableStore, prefix: string) {
    this.storedRecords = createStoredRecords<Shadow>(storage, { ...recordKind, prefix }, { nextTurn })
  }

  set(id: string, entry: KnownShadow | undefined): void {
    if (entry) this.shadowsById.set(id, entry)
    else this.shadowsById.delete(id)
    if (entry?.shadow.parked) this.parkedIds.add(id)
    else this.parkedIds.delete(id)
    if (entry?.shadow.isUncertain) this.uncertainIds.add(id)
    else this.uncertainIds.delete(id)
  }

  async loadAll(): Promise<void> {
    const entries: StoredEntry<Shadow>[] = []
    for await (const page of this.storedRecords.pages()) entries.push(...page)
    for (const ids of [this.shadowsById, this.parkedIds, this.uncertainIds]) ids.clear()
    for (const entry of entries) this.set(entry.record.id, toKnownShadow(entry))
  }
}

/** The shadows of a replica. All methods reject with `STORAGE_FAILED`. */
export class Shadows {
  readonly #store: WritableStore
  readonly #clock: Pick<Clock, 'now'>
  /** The prefix of this replica's shadows in storage. */
  readonly #prefix: string
  readonly #tables: Map<string, ShadowTable>
  #readAt = Number.NEGATIVE_INFINITY
  #isLoaded = false
  #staleKeys = new Set<string>()

  constructor(store: WritableStore, { replicaId, clock }: { replicaId: string; clock: Pick<Clock, 'now'> }) {
    this.#store = store
    this.#clock = clock
    const prefix = `${SHADOWS_PREFIX}${encodeURIComponent(replicaId)}/`
    this.#prefix = prefix
    this.#tables = new Map(collections.map((name) => [name, new ShadowTable(store, `${prefix}${name}/`)]))
    store.freshness.onChange((key) => {
      if (key.startsWith(prefix)) this.#staleKeys.add(key)
    })
    store.freshness.onGap(() => {
      this.#isLoaded = false
    })
  }

  /** Reads shadows that other processes may have changed. With `mustBeFresh`, rereads all of them even if the storage doesn't report changes. */
  async load({ mustBeFresh = false } = {}): Promise<void> {
    const isOutdated = mustBeFresh && !this.#store.freshness.isFresh(this.#readAt)
    try {
      if (!this.#isLoaded || isOutdated || this.#staleKeys.size > MAX_STALE_KEYS) await this.#loadAll()
      else if (this.#staleKeys.size > 0) await this.#rereadStaleKeys()
    } catch (error) {
      this.#isLoaded = false
      throw error
    }
  }

  get({ collection, id }: StateId): KnownShadow | undefined {
    return this.#getTable(collection).shadowsById.get(id)
  }

  list(collection: Collection): Iterable<KnownShadow> {
    return this.#getTable(collection).shadowsById.values()
  }

  /** Returns whether any shadow is uncertain. */
  hasUncertain(): boolean {
    return [...this.#tables.values()].some(({ uncertainIds }) => uncertainIds.size > 0)
  }

  /** Returns the shadows of parked records. */
  listParked(collection: Collection): KnownShadow[] {
    const { parkedIds, shadowsById } = this.#getTable(collection)
    return [...parkedIds].flatMap((id) => shadowsById.get(id) ?? [])
  }

  /** Writes a shadow. Resolves to `undefined` if another write came first; `get` then returns the other writer's shadow. */
  async put(
    collection: Collection,
    shadow: Shadow,
    previousShadow: KnownShadow | undefined,
  ): Promise<KnownShadow | undefined> {
    const table = this.#getTable(collection)
    const storedId = await getStoredId(shadow.id)
    const key = table.storedRecords.getKey(storedId)
    const text = JSON.stringify({ order: 0, record: shadow })
    const write = (ifVersion: string | null) =>
      this.#store.storage.set(key, text, { ifVersion }).catch((error: unknown) => {
        this.#isLoaded = false // the write may have succeeded anyway, so reread everything
        return handleStorageError('write', key)(error)
      })
    let version = await write(previousShadow?.version ?? null)
    if (version === false) {
      const storedEntry = await table.storedRecords.read(storedId)
      table.set(shadow.id, storedEntry && storedEntry !== 'damaged' ? toKnownShadow(storedEntry) : undefined)
      if (storedEntry !== 'damaged') return undefined
      const damagedRecord = await this.#store.storage.get(key).catch(handleStorageError('read', key))
      version = damagedRecord !== undefined && (await write(damagedRecord.version))
      if (version === false) return undefined
    }
    const lastScan = previousShadow?.lastScan
    const entry: KnownShadow = { shadow, version, ...(lastScan !== undefined && { lastScan }) }
    table.set(shadow.id, entry)
    return entry
  }

  /** Removes all other replicas' shadows. */
  async removeOtherReplicas(): Promise<void> {
    const { storage, nextTurn } = this.#store
    for (let after: string | undefined; ; ) {
      const page = await storage
        .list(SHADOWS_PREFIX, { limit: PAGE_SIZE, ...(after !== undefined && { after }) })
        .catch(handleStorageError('list', SHADOWS_PREFIX))
      const lastKey = page.at(-1)?.key
      if (lastKey === undefined) return
      const otherKeys = page.map(({ key }) => key).filter((key) => !key.startsWith(this.#prefix))
      await Promise.all(otherKeys.map((key) => storage.delete(key).catch(handleStorageError('write', key))))
      after = lastKey.startsWith(this.#prefix) ? `${this.#prefix}~` : lastKey // `~` sorts after all of this replica's keys, so the listing skips them
      await nextTurn()
    }
  }

  #getTable(collection: Collection): ShadowTable {
    const table = this.#tables.get(collection)
    if (!table) throw new TypeError(`There is no collection ${collection}.`)
    return table
  }

  async #loadAll(): Promise<void> {
    const startedAt = this.#clock.now()
    this.#staleKeys = new Set()
    this.#isLoaded = true // set before the read, so a change reported during the read isn't lost
    for (const table of this.#tables.values()) await table.loadAll()
    this.#readAt = startedAt
  }

  async #rereadStaleKeys(): Promise<void> {
    const keys = [...this.#staleKeys]
    this.#staleKeys = new Set()
    for (let start = 0; start < keys.length; start += BATCH_SIZE)
      await Promise.all(keys.slice(start, start + BATCH_SIZE).map((key) => this.#rereadKey(key)))
  }

  async #rereadKey(key: string): Promise<void> {
    const [collection = '', encodedId = ''] = key.slice(this.#prefix.length).split('/')
    const table = this.#tables.get(collection)
    if (!table) return
    const storedId = decodeURIComponent(encodedId)
    const storedEntry = await table.storedRecords.read(storedId)
    if (storedEntry && storedEntry !== 'damaged') table.set(storedEntry.record.id, toKnownShadow(storedEntry))
    else if (!storedEntry) table.set(storedId, undefined)
  }
}

const toKnownShadow = ({ record, version }: StoredEntry<Shadow>): KnownShadow => ({ shadow: record, version })

/** Maximum number of changed shadows to reread individually; above that, rereads all. Some storages also report this gateway's own changes. */
const MAX_STALE_KEYS = 1_000
const BATCH_SIZE = 32
const PAGE_SIZE = 1_000

/** Returns a shadow's ID in storage. Long IDs become digests, because some storages limit key lengths. */
async function getStoredId(id: string): Promise<string> {
  return encodeURIComponent(id).length <= MAX_ID_LENGTH ? id : `~${await sha256Hex(id)}`
}

const MAX_ID_LENGTH = 200

const recordKind: Omit<RecordKind<Shadow>, 'prefix'> = {
  read(stored) {
    const { id, slot, applying, parked, claims } = stored
    const state = parseState(stored)
    if (typeof id !== 'string' || !state) return 'is not a record state'
    const applyingState = isObject(applying) ? parseState(applying) : undefined
    const record: Shadow = {
      ...state,
      id,
      ...(typeof slot === 'string' && { slot }),
      ...(applyingState && { applying: applyingState }),
      ...(isObject(parked) &&
        typeof parked.slot === 'string' &&
        isObject(parked.record) && { parked: { slot: parked.slot, record: parked.record } }),
      ...(Array.isArray(claims) && { claims: claims.filter((claim) => typeof claim === 'string') }),
    }
    return { record, problems: [] }
  },
}

function parseState({ hash, revision, base, active, isSeen, isUncertain, edit }: JsonObject): ShadowState | undefined {
  if ((typeof hash !== 'string' && hash !== null) || !isRevision(revision)) return undefined
  const activeRegister = isObject(active) ? parseActiveState(active) : undefined
  return {
    hash,
    revision,
    isSeen: isSeen === true,
    ...(isRevision(base) && { base }),
    ...(isUncertain === true && { isUncertain }),
    ...(activeRegister && { active: activeRegister }),
    ...(typeof edit === 'string' && { edit }),
  }
}

const parseActiveState = ({ isActive, revision, base }: JsonObject): Active | undefined =>
  typeof isActive === 'boolean' && isRevision(revision)
    ? { isActive, revision, ...(isRevision(base) && { base }) }
    : undefined

const isRevision = (value: unknown): value is Revision =>
  Array.isArray(value) && value.length === 2 && value.every((count) => Number.isSafeInteger(count) && count >= 0)
