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
  stateId: StateId
  knownShadow: KnownShadow | undefined
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
  readonly #observations = new WeakMap<object, RecordObservation | SyncProblem>()
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
    await this.shadows.load({ mustBeFresh: true })
    this.#scanNumber++
    const results = []
    for (const collection of collections) results.push(await this.#scanCollection(collection))
    return { pending: results.flatMap(({ pending }) => pending), rejected: results.flatMap(({ rejected }) => rejected) }
  }

  /** Scans one record, reading it from storage. */
  scanRecord(stateId: StateId): Promise<ScannedRecord | SyncProblem> {
    return retryOnConflict(async () => {
      const itemsById = await this.tables[stateId.collection].find([{ id: stateId.id, slot: this.#getSlot(stateId) }])
      return this.scanItems(stateId, itemsById.get(stateId.id) ?? [])
    })
  }

  /** Scans a record that was already read. Resolves to `false` if another write came first. */
  async scanItems(stateId: StateId, items: SyncItem[] | 'damaged'): Promise<ScannedRecord | SyncProblem | false> {
    if (items === 'damaged') return { problem: 'The record is damaged. Repair or remove it: GET /api/health names it.' }
    const { collection } = stateId
    const knownShadow = this.shadows.get(stateId)
    const shadow = knownShadow?.shadow ?? (await this.#createShadow(stateId))
    const item = await this.#selectItem(collection, items, shadow)
    const extras = items.filter((candidate) => candidate !== item)
    const { parked, ...shadowFields } = shadow
    if (!item && parked) return { stateId, knownShadow, shadow, item, extras }
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
    const updatedShadow = updateShadow(shadow, observation, { side, slot, at: clock.now() })
    if (updatedShadow === shadow) return { stateId, knownShadow, shadow, item, extras }
    const storedShadow = await this.shadows.put(collection, updatedShadow, knownShadow)
    return storedShadow ? { stateId, knownShadow: storedShadow, shadow: updatedShadow, item, extras } : false
  }

  async hashRecord({ collection, id }: StateId, { updatedAt, ...content }: JsonObject): Promise<string> {
    const keyring = await this.#options.store.keyring()
    return keyring.sign(`mirror/${collection}/${id}`, JSON.stringify(sortFields(content)))
  }

  /** Restores parked records whose slots are free again. */
  async unpark(collection: Collection): Promise<void> {
    const table = this.tables[collection]
    for (const knownShadow of this.shadows.listParked(collection)) {
      const { parked, ...shadow } = knownShadow.shadow
      if (!parked || (await table.readSlot(parked.slot))) continue
      const observation = await this.#observe(collection, { id: shadow.id, version: '', ...parked })
      if (isSyncProblem(observation)) continue
      if (await table.write(undefined, parked)) await this.shadows.put(collection, shadow, knownShadow)
    }
  }

  async #scanCollection(collection: Collection): Promise<{ pending: PendingState[]; rejected: Rejection[] }> {
    const items = await this.tables[collection].list()
    await this.#observeAll(collection, items)
    const rejected: Rejection[] = []
    const changedIds = new Set<string>()
    let comparedCount = 0
    for (const { id, record } of items) {
      const knownShadow = this.shadows.get({ collection, id })
      const observation = this.#observations.get(record)
      const isDuplicate = knownShadow?.lastScan === this.#scanNumber
      if (knownShadow) knownShadow.lastScan = this.#scanNumber
      if (observation && isSyncProblem(observation))
        rejected.push({ collection, id, message: observation.problem, code: 'INVALID' })
      else if (!knownShadow || !observation || isDuplicate || !isUnchanged(knownShadow.shadow, observation))
        changedIds.add(id)
      if (++comparedCount % COMPARISON_BATCH === 0) await this.#options.store.nextTurn()
    }
    for (const { shadow, lastScan } of this.shadows.list(collection)) {
      const { id, hash, parked, applying, claims } = shadow
      if (lastScan !== this.#scanNumber && (hash !== null || parked || applying || claims)) changedIds.add(id)
    }
    rejected.push(...(await this.#scanRecords(collection, [...changedIds])))
    await this.unpark(collection)
    return { pending: await this.#listPending(collection), rejected }
  }

  async #scanRecords(collection: Collection, ids: readonly string[]): Promise<Rejection[]> {
    const rejected: Rejection[] = []
    for (let start = 0; start < ids.length; start += BATCH_SIZE) {
      const lookups = ids
        .slice(start, start + BATCH_SIZE)
        .map((id) => ({ id, slot: this.#getSlot({ collection, id }) }))
      const itemsById = await this.tables[collection].find(lookups)
      await Promise.all(
        lookups.map(async ({ id }) => {
          const stateId = { collection, id }
          const scanned = (await this.scanItems(stateId, itemsById.get(id) ?? [])) || (await this.scanRecord(stateId))
          if (isSyncProblem(scanned)) rejected.push({ ...stateId, message: scanned.problem, code: 'INVALID' })
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
    let hasLiveRecords = false
    for (const { shadow } of this.shadows.list(collection)) {
      if (shadow.isSeen) continue
      if (shadow.hash === null) pending.push({ collection, id: shadow.id })
      else hasLiveRecords = true
    }
    if (!hasLiveRecords) return pending
    const listedIds = new Set<string>()
    for (const item of await this.tables[collection].list()) {
      const { id } = item
      const shadow = this.shadows.get({ collection, id })?.shadow
      if (listedIds.has(id) || shadow?.isSeen !== false || item.slot !== (shadow.slot ?? id)) continue
      listedIds.add(id)
      pending.push({ collection, id, item })
    }
    for (const { shadow } of this.shadows.listParked(collection))
      if (!shadow.isSeen && shadow.parked && !listedIds.has(shadow.id))
        pending.push({ collection, id: shadow.id, item: { id: shadow.id, version: '', ...shadow.parked } })
    return pending
  }

  async #observeAll(collection: Collection, items: readonly SyncItem[]): Promise<void> {
    const unobservedItems = items.filter(({ record }) => !this.#observations.has(record))
    for (let start = 0; start < unobservedItems.length; start += BATCH_SIZE) {
      await Promise.all(unobservedItems.slice(start, start + BATCH_SIZE).map((item) => this.#observe(collection, item)))
      await this.#options.store.nextTurn()
    }
  }

  async #observe(collection: Collection, item: SyncItem): Promise<RecordObservation | SyncProblem> {
    const cachedObservation = this.#observations.get(item.record)
    if (cachedObservation) return cachedObservation
    const observation = await this.#readObservation(collection, item).catch(toProblem)
    this.#observations.set(item.record, observation)
    return observation
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
  async #selectItem(collection: Collection, items: SyncItem[], { applying }: Shadow): Promise<SyncItem | undefined> {
    if (items.length < 2 || !applying) return items[0]
    for (const item of items) {
      const observation = await this.#observe(collection, item)
      if (!isSyncProblem(observation) && observation.hash === applying.hash) return item
    }
    return items[0]
  }

  /** Creates a shadow for a record that has none. Settings with default values are treated as unchanged. */
  async #createShadow(stateId: StateId): Promise<Shadow> {
    const hash = stateId.collection === 'settings' ? await this.hashRecord(stateId, { requireApiKey: false }) : null
    const isUncertain = this.shadows.hasUncertain()
    return { id: stateId.id, hash, revision: INITIAL_REVISION, isSeen: true, ...(isUncertain && { isUncertain }) }
  }

  #getSlot(stateId: StateId): string | undefined {
    return this.shadows.get(stateId)?.shadow.slot
  }
}

function isUnchanged(shadow: Shadow, observation: RecordObservation): boolean {
  return !shadow.applying && !shadow.parked && !shadow.claims && matchesShadow(shadow, observation)
}

const matchesShadow = ({ hash, active, edit }: Omit<ShadowState, 'isSeen'>, observation: RecordObservation) =>
  observation.hash === hash &&
  (hash === null || (observation.isActive === active?.isActive && observation.edit === edit))

/**
 * Brings a shadow up to date with its record. Returns the same object if nothing changed. `at` is the minimum count for an uncertain shadow: after a
 * restore from an old copy, the next counts may already be taken.
 */
export function updateShadow(
  shadow: Shadow,
  observation: RecordObservation,
  { side, slot, at }: { side: Side; slot?: string | undefined; at: number },
): Shadow {
  if (matchesShadow(shadow, observation))
    return observation.hash === null || slot === shadow.slot
      ? shadow
      : { ...shadow, ...(slot !== undefined && { slot }) }
  const { applying, ...shadowFields } = shadow
  const slotField = slot === undefined ? {} : { slot }
  if (applying && matchesShadow(applying, observation))
    return { ...withRegisters(shadowFields, applying), ...slotField }
  const { isUncertain } = shadow
  const changeOptions = { side, ...(isUncertain && { atLeast: at }) }
  const nextState: ShadowState = {
    ...getContentState(shadow, observation, changeOptions),
    ...getActiveState(shadow, observation, changeOptions),
    ...(observation.edit !== undefined && { edit: observation.edit }),
    ...(isUncertain && { isUncertain }),
    isSeen: false,
  }
  return { ...withRegisters(shadowFields, nextState), ...slotField }
}

interface ChangeOptions {
  side: Side
  /** The minimum for a new count. */
  atLeast?: number
}

/** Returns the content's state. Writing the settings again, even with the same values, also counts as a change. */
function getContentState(
  shadow: Shadow,
  observation: RecordObservation,
  { side, atLeast }: ChangeOptions,
): Pick<ShadowState, 'hash' | 'revision' | 'base'> {
  const { hash, revision, base, applying, edit } = shadow
  const isReset = observation.isActive === undefined && observation.edit !== edit
  if (observation.hash === hash && !isReset) return { hash, revision, ...(base && { base }) }
  if (applying && observation.hash === applying.hash && !isReset)
    return { hash: observation.hash, revision: applying.revision }
  return { hash: observation.hash, ...advanceRegister(shadow, side, atLeast) }
}

/** Returns the state of the record's active flag. Recreating the record, or setting the flag to the same value, also counts as a change. */
function getActiveState(
  { hash, active, applying, edit }: Shadow,
  observation: RecordObservation,
  { side, atLeast }: ChangeOptions,
): Pick<ShadowState, 'active'> {
  const { isActive } = observation
  const isReset = observation.edit !== edit
  if (isActive === undefined || (hash !== null && isActive === active?.isActive && !isReset))
    return active ? { active } : {}
  if (applying?.active && applying.active.isActive === isActive && observation.edit === applying.edit)
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
