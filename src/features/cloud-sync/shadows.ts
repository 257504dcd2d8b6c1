import { isObject, type JsonObject } from '../../lib/json.ts'
import { sha256Hex } from '../../records/keyring.ts'
import { handleStorageError } from '../../records/storage-access.ts'
import { createStoredRecords, type RecordKind, type StoredEntry } from '../../records/stored-records.ts'
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
  /** The record while another record occupies its slot. It isn't in the store during that time. */
  parked?: { slot: string; record: JsonObject }
  /** Digests that may be claimed in addition to the record's own. */
  claims?: string[]
}

/** A record's state, and whether the other side has it. */
export interface ShadowState extends Registers {
  /** Whether the other side has confirmed the state. */
  isSeen: boolean
  /** Whether this side may have been restored from an old copy after the other side confirmed a state. */
  isUncertain?: boolean
  /**
   * Identifies the last call that set the settings, or whether the record is active. A different call counts as a change, even with the same values.
   */
  edit?: string
}

/** Returns the shadow with a new state. */
export function withRegisters(shadow: Shadow, next: ShadowState): Shadow {
  const { hash, revision, base, active, edit, isSeen, isUncertain, ...rest } = shadow
  return { ...rest, ...next }
}

/** Returns the shadow after the other side has confirmed the state. */
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

/** The shadows of a replica. All methods reject with `STORAGE_FAILED`. */
export interface Shadows {
  /** Reads shadows that others may have changed. With `isWhole`, does so even if the storage doesn't report changes. */
  load(options?: { isWhole?: boolean }): Promise<void>
  get(where: StateId): KnownShadow | undefined
  list(collection: Collection): Iterable<KnownShadow>
  /** Returns whether any shadow is uncertain. */
  hasUncertain(): boolean
  /** Returns the shadows of parked records. */
  parked(collection: Collection): KnownShadow[]
  /** Writes a shadow. If another writer was faster, resolves to `undefined`; `get` then returns the other writer's shadow. */
  put(collection: Collection, shadow: Shadow, before: KnownShadow | undefined): Promise<KnownShadow | undefined>
  /** Removes the shadows of all other replicas. */
  removeOthers(): Promise<void>
}

export const SHADOWS = 'cloud/shadows/'

export function createShadows(
  { storage, freshness, turnEnd }: WritableStore,
  { replicaId, clock }: { replicaId: string; clock: Pick<Clock, 'now'> },
): Shadows {
  const own = `${SHADOWS}${encodeURIComponent(replicaId)}/`
  const tables = new Map(collections.map((collection) => [collection, createTable(collection)]))
  let readAt = Number.NEGATIVE_INFINITY
  let isLoaded = false
  let stale = new Set<string>()

  freshness.onChange((key) => {
    if (key.startsWith(own)) stale.add(key)
  })
  freshness.onGap(() => {
    isLoaded = false
  })

  function createTable(collection: Collection) {
    const stored = createStoredRecords<Shadow>(storage, { ...kind, prefix: `${own}${collection}/` }, { turnEnd })
    return { stored, known: new Map<string, KnownShadow>(), parked: new Set<string>(), uncertain: new Set<string>() }
  }

  function getTable(collection: Collection) {
    const table = tables.get(collection)
    if (!table) throw new TypeError(`There is no collection ${collection}.`)
    return table
  }

  function remember(collection: Collection, id: string, entry: KnownShadow | undefined): void {
    const { known, parked, uncertain } = getTable(collection)
    if (entry) known.set(id, entry)
    else known.delete(id)
    if (entry?.shadow.parked) parked.add(id)
    else parked.delete(id)
    if (entry?.shadow.isUncertain) uncertain.add(id)
    else uncertain.delete(id)
  }

  const toKnownShadow = ({ record, version }: StoredEntry<Shadow>): KnownShadow => ({ shadow: record, version })

  async function loadAll(): Promise<void> {
    const startedAt = clock.now()
    stale = new Set()
    isLoaded = true
    try {
      for (const [collection, { stored, known: before, parked, uncertain }] of tables) {
        const entries: StoredEntry<Shadow>[] = []
        for await (const page of stored.pages()) entries.push(...page)
        before.clear()
        parked.clear()
        uncertain.clear()
        for (const entry of entries) remember(collection, entry.record.id, toKnownShadow(entry))
      }
      readAt = startedAt
    } catch (error) {
      isLoaded = false
      throw error
    }
  }

  /** Rereads a shadow. If it is damaged, resolves to its version and treats it as missing. */
  async function reread(collection: Collection, id: string, storedId: string): Promise<string | undefined> {
    const { stored } = getTable(collection)
    const found = await stored.read(storedId)
    remember(collection, id, found && found !== 'damaged' ? toKnownShadow(found) : undefined)
    const key = stored.getKey(storedId)
    return found === 'damaged' ? (await storage.get(key).catch(handleStorageError('read', key)))?.version : undefined
  }

  async function rereadStale(): Promise<void> {
    const keys = [...stale]
    stale = new Set()
    for (let from = 0; from < keys.length; from += BATCH)
      await Promise.all(keys.slice(from, from + BATCH).map(rereadKey)).catch((error: unknown) => {
        isLoaded = false
        throw error
      })
  }

  async function rereadKey(key: string): Promise<void> {
    const [collection, encoded = ''] = key.slice(own.length).split('/')
    const table = tables.get(collection as Collection) // an unknown collection has no table
    if (!table) return
    const storedId = decodeURIComponent(encoded)
    const found = await table.stored.read(storedId)
    if (found && found !== 'damaged') remember(collection as Collection, found.record.id, toKnownShadow(found))
    else if (!found) remember(collection as Collection, storedId, undefined)
  }

  return {
    async load({ isWhole = false } = {}) {
      if (!isLoaded || (isWhole && !freshness.isFresh(readAt)) || stale.size > MAX_STALE) await loadAll()
      else if (stale.size > 0) await rereadStale()
    },

    get: ({ collection, id }) => getTable(collection).known.get(id),
    list: (collection) => getTable(collection).known.values(),
    hasUncertain: () => [...tables.values()].some(({ uncertain }) => uncertain.size > 0),
    parked: (collection) => [...getTable(collection).parked].flatMap((id) => getTable(collection).known.get(id) ?? []),

    async put(collection, shadow, before) {
      const { stored } = getTable(collection)
      const storedId = await getStoredId(shadow.id)
      const key = stored.getKey(storedId)
      const text = JSON.stringify({ order: 0, record: shadow })
      const write = (ifVersion: string | null) =>
        storage.set(key, text, { ifVersion }).catch((error: unknown) => {
          isLoaded = false // the write may have succeeded anyway
          return handleStorageError('write', key)(error)
        })
      let version = await write(before?.version ?? null)
      if (version === false) {
        const damaged = await reread(collection, shadow.id, storedId)
        version = damaged !== undefined && (await write(damaged))
        if (version === false) return undefined
      }
      const entry: KnownShadow = {
        shadow,
        version,
        ...(before?.lastScan !== undefined && { lastScan: before.lastScan }),
      }
      remember(collection, shadow.id, entry)
      return entry
    },

    async removeOthers() {
      for (let after: string | undefined; ; ) {
        const page = await storage
          .list(SHADOWS, { limit: PAGE, ...(after !== undefined && { after }) })
          .catch(handleStorageError('list', SHADOWS))
        const last = page.at(-1)?.key
        if (last === undefined) return
        const others = page.map(({ key }) => key).filter((key) => !key.startsWith(own))
        await Promise.all(others.map((key) => storage.delete(key).catch(handleStorageError('write', key))))
        after = last.startsWith(own) ? `${own}~` : last // the keys of all collections sort before it
        await turnEnd()
      }
    },
  }
}

/** The number of changed shadows above which all shadows are reread. Some storages also report this gateway's own changes. */
const MAX_STALE = 1_000
const BATCH = 32
const PAGE = 1_000

/** Returns the ID under which a shadow is stored. Long IDs become digests, because some storages limit key lengths. */
async function getStoredId(id: string): Promise<string> {
  return encodeURIComponent(id).length <= MAX_ID_LENGTH ? id : `~${await sha256Hex(id)}`
}

const MAX_ID_LENGTH = 200

const kind: Omit<RecordKind<Shadow>, 'prefix'> = {
  read(stored) {
    const { id, slot, applying, parked, claims } = stored
    const registers = parseState(stored)
    if (typeof id !== 'string' || !registers) return 'is not a record state'
    const next = isObject(applying) ? parseState(applying) : undefined
    const record: Shadow = {
      ...registers,
      id,
      ...(typeof slot === 'string' && { slot }),
      ...(next && { applying: next }),
      ...(isObject(parked) &&
        typeof parked.slot === 'string' &&
        isObject(parked.record) && { parked: { slot: parked.slot, record: parked.record } }),
      ...(Array.isArray(claims) && { claims: claims.filter((one) => typeof one === 'string') }),
    }
    return { record, problems: [] }
  },
}

function parseState({ hash, revision, base, active, isSeen, isUncertain, edit }: JsonObject): ShadowState | undefined {
  if ((typeof hash !== 'string' && hash !== null) || !isRevision(revision)) return undefined
  const register = isObject(active) ? parseActive(active) : undefined
  return {
    hash,
    revision,
    isSeen: isSeen === true,
    ...(isRevision(base) && { base }),
    ...(isUncertain === true && { isUncertain }),
    ...(register && { active: register }),
    ...(typeof edit === 'string' && { edit }),
  }
}

const parseActive = ({ isActive, revision, base }: JsonObject): Active | undefined =>
  typeof isActive === 'boolean' && isRevision(revision)
    ? { isActive, revision, ...(isRevision(base) && { base }) }
    : undefined

const isRevision = (value: unknown): value is Revision =>
  Array.isArray(value) && value.length === 2 && value.every((count) => Number.isSafeInteger(count) && count >= 0)
