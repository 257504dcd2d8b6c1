import { isObject, type JsonObject } from '../lib/json.ts'
import { failedTo } from '../store/storage-access.ts'
import { createStoredRecords, type RecordKind, type StoredEntry } from '../store/stored-records.ts'
import { sha256Hex } from '../store/vault.ts'
import type { WritableStore } from '../store/writable-store.ts'
import type { Clock } from '../types.ts'
import type { Active, Registers } from './merge.ts'
import { type Collection, collections, type Revision } from './protocol.ts'
import type { StateId } from './types.ts'

/** What is known of the state of a record: by it changes are found, and a state that was half taken is taken to its end. */
export interface Shadow extends Applied {
  id: string
  /** Where the record was last, when that is not its id. */
  slot?: string
  /** What the record is about to become. */
  applying?: Applied
  /** The record, as long as another one is where it belongs; it is not in the store then. */
  parked?: { slot: string; record: JsonObject }
  /** Digests that are claimed, or may be, besides that of the record. */
  claims?: string[]
}

/** What a record holds, and what the other side knows of it. */
export interface Applied extends Registers {
  /** Has the other side confirmed it? */
  isSeen: boolean
  /** May this side have got an old copy back since the other one has confirmed a state? */
  isUncertain?: boolean
  /** Of the last call that set whether the record is active, or the settings: another one is a change, though the record may be as before. */
  edit?: string
}

/** The same shadow for what the record holds now. */
export function withRegisters(shadow: Shadow, next: Applied): Shadow {
  const { hash, revision, base, active, edit, isSeen, isUncertain, ...rest } = shadow
  return { ...rest, ...next }
}

/** The same shadow once the other side has what the record holds. */
export function confirmed({ base, isUncertain, active, ...shadow }: Shadow): Shadow {
  return {
    ...shadow,
    ...(active && { active: { isActive: active.isActive, revision: active.revision } }),
    isSeen: true,
  }
}

/** A shadow as it was read or written last. */
export interface KnownShadow {
  readonly shadow: Shadow
  readonly version: string
  /** The number of the last scan that found its record. */
  met?: number
}

/** The shadows of one mirror. All methods reject with `STORAGE_FAILED`. */
export interface Shadows {
  /** Reads those that others may have changed; `isWhole`: also where the storage does not report changes. */
  load(options?: { isWhole?: boolean }): Promise<void>
  get(where: StateId): KnownShadow | undefined
  of(collection: Collection): Iterable<KnownShadow>
  /** Is one of them uncertain? */
  hasUncertain(): boolean
  /** Those of a collection whose records are parked. */
  parked(collection: Collection): KnownShadow[]
  /** Writes one, unless another writer was faster than `before`: then it resolves to `undefined`, and `get` has what that one wrote. */
  put(collection: Collection, shadow: Shadow, before: KnownShadow | undefined): Promise<KnownShadow | undefined>
  /** Removes those of all other mirrors. */
  removeOthers(): Promise<void>
}

export const SHADOWS = 'cloud/shadows/'

export function createShadows(
  { storage, freshness, turnEnd }: WritableStore,
  { mirror, clock }: { mirror: string; clock: Pick<Clock, 'now'> },
): Shadows {
  const own = `${SHADOWS}${encodeURIComponent(mirror)}/`
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

  function tableOf(collection: Collection) {
    const table = tables.get(collection)
    if (!table) throw new TypeError(`There is no collection ${collection}.`)
    return table
  }

  function remember(collection: Collection, id: string, entry: KnownShadow | undefined): void {
    const { known, parked, uncertain } = tableOf(collection)
    if (entry) known.set(id, entry)
    else known.delete(id)
    if (entry?.shadow.parked) parked.add(id)
    else parked.delete(id)
    if (entry?.shadow.isUncertain) uncertain.add(id)
    else uncertain.delete(id)
  }

  const known = ({ record, version }: StoredEntry<Shadow>): KnownShadow => ({ shadow: record, version })

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
        for (const entry of entries) remember(collection, entry.record.id, known(entry))
      }
      readAt = startedAt
    } catch (error) {
      isLoaded = false
      throw error
    }
  }

  /** Resolves to the version of a shadow that cannot be read, which is as good as none. */
  async function reread(collection: Collection, id: string, storedId: string): Promise<string | undefined> {
    const { stored } = tableOf(collection)
    const found = await stored.read(storedId)
    remember(collection, id, found && found !== 'damaged' ? known(found) : undefined)
    const key = stored.keyOf(storedId)
    return found === 'damaged' ? (await storage.get(key).catch(failedTo('read', key)))?.version : undefined
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
    const table = tables.get(collection as Collection) // one of them, or nothing is found
    if (!table) return
    const storedId = decodeURIComponent(encoded)
    const found = await table.stored.read(storedId)
    if (found && found !== 'damaged') remember(collection as Collection, found.record.id, known(found))
    else if (!found) remember(collection as Collection, storedId, undefined)
  }

  return {
    async load({ isWhole = false } = {}) {
      if (!isLoaded || (isWhole && !freshness.isFresh(readAt)) || stale.size > MOST_STALE) await loadAll()
      else if (stale.size > 0) await rereadStale()
    },

    get: ({ collection, id }) => tableOf(collection).known.get(id),
    of: (collection) => tableOf(collection).known.values(),
    hasUncertain: () => [...tables.values()].some(({ uncertain }) => uncertain.size > 0),
    parked: (collection) => [...tableOf(collection).parked].flatMap((id) => tableOf(collection).known.get(id) ?? []),

    async put(collection, shadow, before) {
      const { stored } = tableOf(collection)
      const storedId = await storedIdOf(shadow.id)
      const key = stored.keyOf(storedId)
      const text = JSON.stringify({ order: 0, record: shadow })
      const write = (ifVersion: string | null) =>
        storage.set(key, text, { ifVersion }).catch((error: unknown) => {
          isLoaded = false // it may have been written all the same
          return failedTo('write', key)(error)
        })
      let version = await write(before?.version ?? null)
      if (version === false) {
        const damaged = await reread(collection, shadow.id, storedId)
        version = damaged !== undefined && (await write(damaged))
        if (version === false) return undefined
      }
      const entry: KnownShadow = { shadow, version, ...(before?.met !== undefined && { met: before.met }) }
      remember(collection, shadow.id, entry)
      return entry
    },

    async removeOthers() {
      for (let after: string | undefined; ; ) {
        const page = await storage
          .list(SHADOWS, { limit: PAGE, ...(after !== undefined && { after }) })
          .catch(failedTo('list', SHADOWS))
        const last = page.at(-1)?.key
        if (last === undefined) return
        const others = page.map(({ key }) => key).filter((key) => !key.startsWith(own))
        await Promise.all(others.map((key) => storage.delete(key).catch(failedTo('write', key))))
        after = last.startsWith(own) ? `${own}~` : last // the collections come before
        await turnEnd()
      }
    },
  }
}

/** Beyond that many changes all are read again; some storages report those of this gateway as well. */
const MOST_STALE = 1_000
const BATCH = 32
const PAGE = 1_000

/** Long ids are stored under their digest: some storages take no long keys. */
async function storedIdOf(id: string): Promise<string> {
  return encodeURIComponent(id).length <= LONGEST ? id : `~${await sha256Hex(id)}`
}

const LONGEST = 200

const kind: Omit<RecordKind<Shadow>, 'prefix'> = {
  read(stored) {
    const { id, slot, applying, parked, claims } = stored
    const registers = appliedIn(stored)
    if (typeof id !== 'string' || !registers) return 'is no state of a record'
    const next = isObject(applying) ? appliedIn(applying) : undefined
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

function appliedIn({ hash, revision, base, active, isSeen, isUncertain, edit }: JsonObject): Applied | undefined {
  if ((typeof hash !== 'string' && hash !== null) || !isRevision(revision)) return undefined
  const register = isObject(active) ? activeIn(active) : undefined
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

const activeIn = ({ isActive, revision, base }: JsonObject): Active | undefined =>
  typeof isActive === 'boolean' && isRevision(revision)
    ? { isActive, revision, ...(isRevision(base) && { base }) }
    : undefined

const isRevision = (value: unknown): value is Revision =>
  Array.isArray(value) && value.length === 2 && value.every((count) => Number.isSafeInteger(count) && count >= 0)
