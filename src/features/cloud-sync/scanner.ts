import { isGatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { isStorageUnavailable, retryOnConflict } from '../../records/storage-access.ts'
import { advanceRegister, NEVER } from './merge.ts'
import { type Collection, collections } from './protocol.ts'
import { type KnownShadow, type Shadow, type ShadowState, Shadows, withRegisters } from './shadows.ts'
import { createSyncTables, type SyncTable } from './sync-collections.ts'
import type { SyncItem } from './sync-forms.ts'
import type { Rejection, ReplicaOptions, Side, StateId } from './sync-types.ts'

/** The current state of a record, without its content. */
export interface Observation {
  hash: string | null
  isActive?: boolean
  /** Identifies the last call that set whether the record is active, or that set the settings. */
  edit?: string
}

/** A record with its updated shadow. */
export interface ScannedRecord {
  where: StateId
  known: KnownShadow | undefined
  shadow: Shadow
  /** The record in the store; `undefined` if it is deleted or parked. */
  item: SyncItem | undefined
  /** Other records with the same ID, left over from an interrupted change. */
  extras: SyncItem[]
}

/** Why a record can't be synced. */
export interface SyncProblem {
  problem: string
}

export const isSyncProblem = (value: object): value is SyncProblem => 'problem' in value

/** A record to send to the other side. */
export interface PendingState extends StateId {
  /** Absent after a deletion. */
  item?: SyncItem
}

/** Finds the changes in a store since its shadows were written. */
export interface Scanner {
  tables: Record<Collection, SyncTable>
  shadows: Shadows
  /** Scans all records. Resolves to the records that the other side hasn't confirmed, deletions first, and to the records that can't be synced. */
  scan(): Promise<{ pending: PendingState[]; refused: Rejection[] }>
  /** Scans one record, reading it from the storage. */
  scanRecord(where: StateId): Promise<ScannedRecord | SyncProblem>
  /** Scans a record that was already read. Resolves to `false` if another writer was faster. */
  scanFound(where: StateId, found: SyncItem[] | 'damaged'): Promise<ScannedRecord | SyncProblem | false>
  hashRecord(where: StateId, record: JsonObject): Promise<string>
  /** Restores parked records whose slots are free again. */
  unpark(collection: Collection): Promise<void>
}

const BATCH = 64
/** Number of records to compare before yielding to other work. */
const COMPARISON_BATCH = 5_000

/** Creates a scanner. Calls `tidy` with each scanned record, which may need cleanup. */
export function createScanner(
  { store, side, replicaId, validate, clock }: ReplicaOptions,
  tidy: (collection: Collection, look: ScannedRecord) => Promise<void>,
): Scanner {
  const tables = createSyncTables({ store, side, validate })
  const shadows = new Shadows(store, { replicaId, clock })
  const observed = new WeakMap<object, Observation | SyncProblem>()
  let scanNumber = 0

  const hashRecord: Scanner['hashRecord'] = async ({ collection, id }, { updatedAt, ...content }) =>
    (await store.keyring()).sign(`mirror/${collection}/${id}`, JSON.stringify(sortFields(content)))

  async function observe(collection: Collection, item: SyncItem): Promise<Observation | SyncProblem> {
    const before = observed.get(item.record)
    if (before) return before
    const now = await tables[collection]
      .read(item)
      .then(
        async ({ record, isActive, edit }): Promise<Observation> => ({
          hash: await hashRecord({ collection, id: item.id }, record),
          ...(isActive !== undefined && { isActive }),
          ...(edit !== undefined && { edit }),
        }),
      )
      .catch(toProblem)
    observed.set(item.record, now)
    return now
  }

  /** Creates a shadow for a record without one. Settings with default values count as unchanged. */
  async function createShadow(where: StateId): Promise<Shadow> {
    const hash = where.collection === 'settings' ? await hashRecord(where, { requireApiKey: false }) : null
    const isUncertain = shadows.hasUncertain()
    return { id: where.id, hash, revision: NEVER, isSeen: true, ...(isUncertain && { isUncertain }) }
  }

  const scanFound: Scanner['scanFound'] = async (where, found) => {
    if (found === 'damaged') return { problem: 'The record is damaged. Repair or remove it: GET /api/health names it.' }
    const { collection } = where
    const known = shadows.get(where)
    const shadow = known?.shadow ?? (await createShadow(where))
    const item = await selectItem(collection, found, shadow)
    const extras = found.filter((one) => one !== item)
    const { parked, ...unparked } = shadow
    if (!item && parked) return { where, known, shadow, item, extras }
    const now = item ? await observe(collection, item) : { hash: null }
    if (isSyncProblem(now)) return now
    if (item && parked) {
      // Another process was about to park the record. Writing it again changes its version, so a removal in flight fails.
      if (await tables[collection].write(item, item)) await shadows.put(collection, unparked, known)
      return false
    }
    if (item && shadow.applying?.hash === now.hash)
      for (const extra of extras.splice(0)) await tables[collection].remove(extra)
    const slot = item && item.slot !== item.id ? item.slot : undefined
    const next = updateShadow(shadow, now, { side, slot, at: clock.now() })
    if (next === shadow) return { where, known, shadow, item, extras }
    const written = await shadows.put(collection, next, known)
    return written ? { where, known: written, shadow: next, item, extras } : false
  }

  /** Selects one of several records with the same ID: the one that an interrupted change was writing, otherwise the oldest. */
  async function selectItem(
    collection: Collection,
    found: SyncItem[],
    { applying }: Shadow,
  ): Promise<SyncItem | undefined> {
    if (found.length < 2 || !applying) return found[0]
    for (const item of found) {
      const now = await observe(collection, item)
      if (!isSyncProblem(now) && now.hash === applying.hash) return item
    }
    return found[0]
  }

  const getSlot = (where: StateId) => shadows.get(where)?.shadow.slot

  const scanRecord: Scanner['scanRecord'] = (where) =>
    retryOnConflict(async () => {
      const found = await tables[where.collection].find([{ id: where.id, slot: getSlot(where) }])
      return scanFound(where, found.get(where.id) ?? [])
    })

  async function scanRecords(collection: Collection, ids: readonly string[]): Promise<Rejection[]> {
    const refused: Rejection[] = []
    for (let from = 0; from < ids.length; from += BATCH) {
      const some = ids.slice(from, from + BATCH)
      const found = await tables[collection].find(some.map((id) => ({ id, slot: getSlot({ collection, id }) })))
      await Promise.all(
        some.map(async (id) => {
          const where = { collection, id }
          const seen = (await scanFound(where, found.get(id) ?? [])) || (await scanRecord(where))
          if (isSyncProblem(seen)) refused.push({ ...where, message: seen.problem, code: 'INVALID' })
          else await tidy(collection, seen)
        }),
      )
      await store.turnEnd()
    }
    return refused
  }

  async function observeAll(collection: Collection, items: readonly SyncItem[]): Promise<void> {
    const unknown = items.filter(({ record }) => !observed.has(record))
    for (let from = 0; from < unknown.length; from += BATCH) {
      await Promise.all(unknown.slice(from, from + BATCH).map((item) => observe(collection, item)))
      await store.turnEnd()
    }
  }

  async function scanCollection(collection: Collection) {
    const items = await tables[collection].list()
    await observeAll(collection, items)
    const refused: Rejection[] = []
    const odd = new Set<string>()
    let compared = 0
    for (const { id, record } of items) {
      const known = shadows.get({ collection, id })
      const now = observed.get(record)
      const isMet = known?.lastScan === scanNumber
      if (known) known.lastScan = scanNumber
      if (now && isSyncProblem(now)) refused.push({ collection, id, message: now.problem, code: 'INVALID' })
      else if (!known || !now || isMet || !isUnchanged(known.shadow, now)) odd.add(id)
      if (++compared % COMPARISON_BATCH === 0) await store.turnEnd()
    }
    for (const known of shadows.list(collection)) {
      const { id, hash, parked, applying, claims } = known.shadow
      if (known.lastScan !== scanNumber && (hash !== null || parked || applying || claims)) odd.add(id)
    }
    refused.push(...(await scanRecords(collection, [...odd])))
    await unpark(collection)
    return { pending: await listPending(collection), refused }
  }

  async function listPending(collection: Collection): Promise<PendingState[]> {
    const pending: PendingState[] = []
    let hasLive = false
    for (const { shadow } of shadows.list(collection)) {
      if (shadow.isSeen) continue
      if (shadow.hash === null) pending.push({ collection, id: shadow.id })
      else hasLive = true
    }
    if (!hasLive) return pending
    const named = new Set<string>()
    for (const item of await tables[collection].list()) {
      const { id } = item
      const shadow = shadows.get({ collection, id })?.shadow
      if (named.has(id) || shadow?.isSeen !== false || item.slot !== (shadow.slot ?? id)) continue
      named.add(id)
      pending.push({ collection, id, item })
    }
    for (const { shadow } of shadows.parked(collection))
      if (!shadow.isSeen && shadow.parked && !named.has(shadow.id))
        pending.push({ collection, id: shadow.id, item: { id: shadow.id, version: '', ...shadow.parked } })
    return pending
  }

  async function unpark(collection: Collection): Promise<void> {
    for (const known of shadows.parked(collection)) {
      const { parked, ...shadow } = known.shadow
      if (!parked || (await tables[collection].readSlot(parked.slot))) continue
      const back = await observe(collection, { id: shadow.id, version: '', ...parked })
      if (isSyncProblem(back)) continue
      if (await tables[collection].write(undefined, parked)) await shadows.put(collection, shadow, known)
    }
  }

  return {
    tables,
    shadows,
    scanRecord,
    scanFound,
    hashRecord,
    unpark,
    async scan() {
      await shadows.load({ isWhole: true })
      scanNumber++
      const all = []
      for (const collection of collections) all.push(await scanCollection(collection))
      return { pending: all.flatMap(({ pending }) => pending), refused: all.flatMap(({ refused }) => refused) }
    },
  }
}

function isUnchanged(shadow: Shadow, now: Observation): boolean {
  return !shadow.applying && !shadow.parked && !shadow.claims && matchesShadow(shadow, now)
}

const matchesShadow = ({ hash, active, edit }: Omit<ShadowState, 'isSeen'>, now: Observation) =>
  now.hash === hash && (hash === null || (now.isActive === active?.isActive && now.edit === edit))

/**
 * Updates a shadow to the current state of its record. Returns the same object if nothing changed. `at` is the minimum count for an uncertain shadow,
 * because the next counts may already have been used.
 */
export function updateShadow(
  shadow: Shadow,
  now: Observation,
  { side, slot, at }: { side: Side; slot?: string | undefined; at: number },
): Shadow {
  if (matchesShadow(shadow, now))
    return now.hash === null || slot === shadow.slot ? shadow : { ...shadow, ...(slot !== undefined && { slot }) }
  const { applying, ...rest } = shadow
  const place = slot === undefined ? {} : { slot }
  if (applying && matchesShadow(applying, now)) return { ...withRegisters(rest, applying), ...place }
  const { isUncertain } = shadow
  const counted = { side, ...(isUncertain && { atLeast: at }) }
  const next: ShadowState = {
    ...getContentState(shadow, now, counted),
    ...getActiveState(shadow, now, counted),
    ...(now.edit !== undefined && { edit: now.edit }),
    ...(isUncertain && { isUncertain }),
    isSeen: false,
  }
  return { ...withRegisters(rest, next), ...place }
}

interface ChangeOptions {
  side: Side
  /** The minimum of a new count. */
  atLeast?: number
}

/** Returns the state of the content. A call that sets the settings to the same values counts as a change, too. */
function getContentState(
  shadow: Shadow,
  now: Observation,
  { side, atLeast }: ChangeOptions,
): Pick<ShadowState, 'hash' | 'revision' | 'base'> {
  const { hash, revision, base, applying, edit } = shadow
  const isReset = now.isActive === undefined && now.edit !== edit
  if (now.hash === hash && !isReset) return { hash, revision, ...(base && { base }) }
  if (applying && now.hash === applying.hash && !isReset) return { hash: now.hash, revision: applying.revision }
  return { hash: now.hash, ...advanceRegister(shadow, side, atLeast) }
}

/** Returns the state of the record's active flag. Recreating the record, or setting the flag to the same value, counts as a change, too. */
function getActiveState(
  { hash, active, applying, edit }: Shadow,
  now: Observation,
  { side, atLeast }: ChangeOptions,
): Pick<ShadowState, 'active'> {
  const { isActive } = now
  const isReset = now.edit !== edit
  if (isActive === undefined || (hash !== null && isActive === active?.isActive && !isReset))
    return active ? { active } : {}
  if (applying?.active && applying.active.isActive === isActive && now.edit === applying.edit)
    return { active: applying.active }
  return { active: { isActive, ...advanceRegister(active ?? { revision: NEVER }, side, atLeast) } }
}

/** Converts a read failure to a problem. Throws if the storage itself failed. */
function toProblem(error: unknown): SyncProblem {
  if (isStorageUnavailable(error) || !isGatewayError(error) || error.code === 'SECRET_MISMATCH') throw error
  return { problem: error.message }
}

function sortFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortFields)
  if (!isObject(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sortFields(value[name])]))
}
