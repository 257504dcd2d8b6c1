import { isGatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { isStorageUnavailable, retryOnConflict } from '../../records/storage-access.ts'
import { advanceRegister, INITIAL_REVISION } from './merge.ts'
import { type Collection, collections } from './protocol.ts'
import { type KnownShadow, type Shadow, type ShadowState, Shadows, withRegisters } from './shadows.ts'
import type { SyncItem } from './sync-codecs.ts'
import { createSyncTables, type SyncTable } from './sync-collections.ts'
import type { Rejection, ReplicaOptions, Side, StateId } from './sync-types.ts'

/** The current state of a record, without its content. */
export interface RecordObservation {
  hash: string | null
  isActive?: boolean
  /** Identifies the last call that wrote the settings or set whether the record is active. */
  edit?: string
}

/** A record with its updated shadow. */
export interface ScannedRecord {
  where: StateId
  known: KnownShadow | undefined
  shadow: Shadow
  /** The record in the store, or `undefined` if it is deleted or parked. */
  item: SyncItem | undefined
  /** Other records with the same ID, left over from an interrupted change. */
  extras: SyncItem[]
}

/** The reason that a record can't be synced. */
export interface SyncProblem {
  problem: string
}

export const isSyncProblem = (value: object): value is SyncProblem => 'problem' in value

/** A record to send to the other side. */
export interface PendingState extends StateId {
  /** Absent after a deletion. */
  item?: SyncItem
}

const BATCH_SIZE = 64
/** Number of records to compare before yielding to other work. */
const COMPARISON_BATCH = 5_000

/** Finds the changes in a store since its shadows were written. */
export class Scanner {
  readonly tables: Record<Collection, SyncTable>
  readonly shadows: Shadows
  readonly #options: ReplicaOptions
  readonly #cleanUp: (collection: Collection, scanned: ScannedRecord) => Promise<void>
  readonly #observed = new WeakMap<object, RecordObservation | SyncProblem>()
  #scanNumber = 0

  /** Calls `cleanUp` with each scanned record, because it may need cleanup. */
  constructor(options: ReplicaOptions, cleanUp: (collection: Collection, scanned: ScannedRecord) => Promise<void>) {
    this.#options = options
    this.#cleanUp = cleanUp
    this.tables = createSyncTables(options)
    this.shadows = new Shadows(options.store, options)
  }

  /** Scans all records. Resolves to the records that the other side hasn't confirmed (deletions first) and to the records that can't be synced. */
  async scan(): Promise<{ pending: PendingState[]; rejected: Rejection[] }> {
    await this.shadows.load({ isWhole: true })
    this.#scanNumber++
    const all = []
    for (const collection of collections) all.push(await this.#scanCollection(collection))
    return { pending: all.flatMap(({ pending }) => pending), rejected: all.flatMap(({ rejected }) => rejected) }
  }

  /** Scans one record, reading it from storage. */
  scanRecord(where: StateId): Promise<ScannedRecord | SyncProblem> {
    return retryOnConflict(async () => {
      const found = await this.tables[where.collection].find([{ id: where.id, slot: this.#getSlot(where) }])
      return this.scanFound(where, found.get(where.id) ?? [])
    })
  }

  /** Scans a record that was already read. Resolves to `false` if another write came first. */
  async scanFound(where: StateId, found: SyncItem[] | 'damaged'): Promise<ScannedRecord | SyncProblem | false> {
    if (found === 'damaged') return { problem: 'The record is damaged. Repair or remove it: GET /api/health names it.' }
    const { collection } = where
    const knownShadow = this.shadows.get(where)
    const shadow = knownShadow?.shadow ?? (await this.#createShadow(where))
    const item = await this.#selectItem(collection, found, shadow)
    const extras = found.filter((other) => other !== item)
    const { parked, ...shadowFields } = shadow
    if (!item && parked) return { where, known: knownShadow, shadow, item, extras }
    const observation = item ? await this.#observe(collection, item) : { hash: null }
    if (isSyncProblem(observation)) return observation
    if (item && parked) {
      // Another process was about to park the record. Writing it again changes its version, so the pending removal fails.
      if (await this.tables[collection].write(item, item)) await this.shadows.put(collection, shadowFields, knownShadow)
      return false
    }
    if (item && shadow.applying?.hash === observation.hash)
      for (const extra of extras.splice(0)) await this.tables[collection].remove(extra)
    const slot = item && item.slot !== item.id ? item.slot : undefined
    const { side, clock } = this.#options
    const next = updateShadow(shadow, observation, { side, slot, at: clock.now() })
    if (next === shadow) return { where, known: knownShadow, shadow, item, extras }
    const updated = await this.shadows.put(collection, next, knownShadow)
    return updated ? { where, known: updated, shadow: next, item, extras } : false
  }

  async hashRecord({ collection, id }: StateId, { updatedAt, ...content }: JsonObject): Promise<string> {
    const keyring = await this.#options.store.keyring()
    return keyring.sign(`mirror/${collection}/${id}`, JSON.stringify(sortFields(content)))
  }

  /** Restores parked records whose slots are free again. */
  async unpark(collection: Collection): Promise<void> {
    const table = this.tables[collection]
    for (const knownShadow of this.shadows.parked(collection)) {
      const { parked, ...shadow } = knownShadow.shadow
      if (!parked || (await table.readSlot(parked.slot))) continue
      const restored = await this.#observe(collection, { id: shadow.id, version: '', ...parked })
      if (isSyncProblem(restored)) continue
      if (await table.write(undefined, parked)) await this.shadows.put(collection, shadow, knownShadow)
    }
  }

  async #scanCollection(collection: Collection): Promise<{ pending: PendingState[]; rejected: Rejection[] }> {
    const items = await this.tables[collection].list()
    await this.#observeAll(collection, items)
    const rejected: Rejection[] = []
    const changed = new Set<string>()
    let compared = 0
    for (const { id, record } of items) {
      const knownShadow = this.shadows.get({ collection, id })
      const now = this.#observed.get(record)
      const isRepeated = knownShadow?.lastScan === this.#scanNumber
      if (knownShadow) knownShadow.lastScan = this.#scanNumber
      if (now && isSyncProblem(now)) rejected.push({ collection, id, message: now.problem, code: 'INVALID' })
      else if (!knownShadow || !now || isRepeated || !isUnchanged(knownShadow.shadow, now)) changed.add(id)
      if (++compared % COMPARISON_BATCH === 0) await this.#options.store.nextTurn()
    }
    for (const { shadow, lastScan } of this.shadows.list(collection)) {
      const { id, hash, parked, applying, claims } = shadow
      if (lastScan !== this.#scanNumber && (hash !== null || parked || applying || claims)) changed.add(id)
    }
    rejected.push(...(await this.#scanRecords(collection, [...changed])))
    await this.unpark(collection)
    return { pending: await this.#listPending(collection), rejected }
  }

  async #scanRecords(collection: Collection, ids: readonly string[]): Promise<Rejection[]> {
    const rejected: Rejection[] = []
    for (let from = 0; from < ids.length; from += BATCH_SIZE) {
      const places = ids.slice(from, from + BATCH_SIZE).map((id) => ({ id, slot: this.#getSlot({ collection, id }) }))
      const found = await this.tables[collection].find(places)
      await Promise.all(
        places.map(async ({ id }) => {
          const where = { collection, id }
          const scanned = (await this.scanFound(where, found.get(id) ?? [])) || (await this.scanRecord(where))
          if (isSyncProblem(scanned)) rejected.push({ ...where, message: scanned.problem, code: 'INVALID' })
          else await this.#cleanUp(collection, scanned)
        }),
      )
      await this.#options.store.nextTurn()
    }
    return rejected
  }

  /** Lists the records that the other side hasn't confirmed, deletions first. */
  async #listPending(collection: Collection): Promise<PendingState[]> {
    const pending: PendingState[] = []
    let hasLive = false
    for (const { shadow } of this.shadows.list(collection)) {
      if (shadow.isSeen) continue
      if (shadow.hash === null) pending.push({ collection, id: shadow.id })
      else hasLive = true
    }
    if (!hasLive) return pending
    const listedIds = new Set<string>()
    for (const item of await this.tables[collection].list()) {
      const { id } = item
      const shadow = this.shadows.get({ collection, id })?.shadow
      if (listedIds.has(id) || shadow?.isSeen !== false || item.slot !== (shadow.slot ?? id)) continue
      listedIds.add(id)
      pending.push({ collection, id, item })
    }
    for (const { shadow } of this.shadows.parked(collection))
      if (!shadow.isSeen && shadow.parked && !listedIds.has(shadow.id))
        pending.push({ collection, id: shadow.id, item: { id: shadow.id, version: '', ...shadow.parked } })
    return pending
  }

  async #observeAll(collection: Collection, items: readonly SyncItem[]): Promise<void> {
    const unknown = items.filter(({ record }) => !this.#observed.has(record))
    for (let from = 0; from < unknown.length; from += BATCH_SIZE) {
      await Promise.all(unknown.slice(from, from + BATCH_SIZE).map((item) => this.#observe(collection, item)))
      await this.#options.store.nextTurn()
    }
  }

  async #observe(collection: Collection, item: SyncItem): Promise<RecordObservation | SyncProblem> {
    const observed = this.#observed.get(item.record)
    if (observed) return observed
    const now = await this.#readObservation(collection, item).catch(toProblem)
    this.#observed.set(item.record, now)
    return now
  }

  async #readObservation(collection: Collection, item: SyncItem): Promise<RecordObservation> {
    const { record, isActive, edit } = await this.tables[collection].read(item)
    return {
      hash: await this.hashRecord({ collection, id: item.id }, record),
      ...(isActive !== undefined && { isActive }),
      ...(edit !== undefined && { edit }),
    }
  }

  /** Selects one of several records with the same ID: the one that an interrupted change was writing, or otherwise the oldest. */
  async #selectItem(collection: Collection, found: SyncItem[], { applying }: Shadow): Promise<SyncItem | undefined> {
    if (found.length < 2 || !applying) return found[0]
    for (const item of found) {
      const now = await this.#observe(collection, item)
      if (!isSyncProblem(now) && now.hash === applying.hash) return item
    }
    return found[0]
  }

  /** Creates a shadow for a record that has none. Settings with default values are treated as unchanged. */
  async #createShadow(where: StateId): Promise<Shadow> {
    const hash = where.collection === 'settings' ? await this.hashRecord(where, { requireApiKey: false }) : null
    const isUncertain = this.shadows.hasUncertain()
    return { id: where.id, hash, revision: INITIAL_REVISION, isSeen: true, ...(isUncertain && { isUncertain }) }
  }

  #getSlot(where: StateId): string | undefined {
    return this.shadows.get(where)?.shadow.slot
  }
}

function isUnchanged(shadow: Shadow, now: RecordObservation): boolean {
  return !shadow.applying && !shadow.parked && !shadow.claims && matchesShadow(shadow, now)
}

const matchesShadow = ({ hash, active, edit }: Omit<ShadowState, 'isSeen'>, now: RecordObservation) =>
  now.hash === hash && (hash === null || (now.isActive === active?.isActive && now.edit === edit))

/**
 * Brings a shadow up to date with its record. Returns the same object if nothing changed. `at` is the minimum count for an uncertain shadow: after a
 * restore from an old copy, the next counts may already be taken.
 */
export function updateShadow(
  shadow: Shadow,
  now: RecordObservation,
  { side, slot, at }: { side: Side; slot?: string | undefined; at: number },
): Shadow {
  if (matchesShadow(shadow, now))
    return now.hash === null || slot === shadow.slot ? shadow : { ...shadow, ...(slot !== undefined && { slot }) }
  const { applying, ...rest } = shadow
  const slotField = slot === undefined ? {} : { slot }
  if (applying && matchesShadow(applying, now)) return { ...withRegisters(rest, applying), ...slotField }
  const { isUncertain } = shadow
  const counted = { side, ...(isUncertain && { atLeast: at }) }
  const next: ShadowState = {
    ...getContentState(shadow, now, counted),
    ...getActiveState(shadow, now, counted),
    ...(now.edit !== undefined && { edit: now.edit }),
    ...(isUncertain && { isUncertain }),
    isSeen: false,
  }
  return { ...withRegisters(rest, next), ...slotField }
}

interface ChangeOptions {
  side: Side
  /** The minimum for a new count. */
  atLeast?: number
}

/** Returns the content's state. Writing the settings again, even with the same values, also counts as a change. */
function getContentState(
  shadow: Shadow,
  now: RecordObservation,
  { side, atLeast }: ChangeOptions,
): Pick<ShadowState, 'hash' | 'revision' | 'base'> {
  const { hash, revision, base, applying, edit } = shadow
  const isReset = now.isActive === undefined && now.edit !== edit
  if (now.hash === hash && !isReset) return { hash, revision, ...(base && { base }) }
  if (applying && now.hash === applying.hash && !isReset) return { hash: now.hash, revision: applying.revision }
  return { hash: now.hash, ...advanceRegister(shadow, side, atLeast) }
}

/** Returns the state of the record's active flag. Recreating the record, or setting the flag to the same value, also counts as a change. */
function getActiveState(
  { hash, active, applying, edit }: Shadow,
  now: RecordObservation,
  { side, atLeast }: ChangeOptions,
): Pick<ShadowState, 'active'> {
  const { isActive } = now
  const isReset = now.edit !== edit
  if (isActive === undefined || (hash !== null && isActive === active?.isActive && !isReset))
    return active ? { active } : {}
  if (applying?.active && applying.active.isActive === isActive && now.edit === applying.edit)
    return { active: applying.active }
  return { active: { isActive, ...advanceRegister(active ?? { revision: INITIAL_REVISION }, side, atLeast) } }
}

/** Converts a read failure to a problem. Rethrows storage failures. */
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
