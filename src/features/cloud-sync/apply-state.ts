import { isGatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { KeyRecord } from '../../records/record-collections.ts'
import { retryOnConflict } from '../../records/storage-access.ts'
import { digestKey } from './cryptography.ts'
import { areSameRegisters, mergeRegisters, type Registers } from './merge.ts'
import type { Collection, RecordState, Verdict } from './protocol.ts'
import { isSyncProblem, type ScannedRecord, type Scanner } from './scanner.ts'
import { type Shadow, type ShadowState, withRegisters } from './shadows.ts'
import type { Content, SyncItem } from './sync-codecs.ts'
import type { Conflict, ReplicaOptions, StateId } from './sync-types.ts'

type RejectedVerdict = Exclude<Verdict, string>

/** A received state with its validated content. */
interface IncomingState {
  stateId: StateId
  registers: Registers
  /** `undefined` for a deletion. */
  content: Content | undefined
}

/** Applies record states received from the other side. */
export class StateApplier {
  readonly #options: ReplicaOptions
  readonly #scanner: Scanner

  constructor(options: ReplicaOptions, scanner: Scanner) {
    this.#options = options
    this.#scanner = scanner
  }

  /** Applies a state if it is newer; with `report`, also if it is concurrent. */
  async apply(state: RecordState, report?: ReportConflict): Promise<Verdict> {
    const incoming = await this.#parse(state)
    return 'refused' in incoming ? incoming : retryOnConflict(() => this.#tryApply(incoming, report))
  }

  /** Deletes a key's value from the cloud once the other side has it. Keeps a newer value, for which `isConfirmed` returns `false`. */
  async forgetValue(stateId: StateId, isConfirmed: (shadow: Shadow) => boolean): Promise<void> {
    if (this.#options.side !== 'cloud') return
    const scanned = await this.#scanner.scanRecord(stateId)
    if (!isSyncProblem(scanned) && scanned.item && isConfirmed(scanned.shadow))
      await this.#replaceValueWithDigest(scanned.item)
  }

  async #replaceValueWithDigest(item: SyncItem): Promise<void> {
    const { sha256 } = item.record as KeyRecord // `keys` only contains key records
    if (sha256 !== undefined) return
    const { keys } = this.#scanner.tables
    const record = await keys.buildRecord(await keys.read(item), item)
    await keys.write(item, { slot: item.slot, record }) // if another write came first, the next scan handles it
  }

  /** Finishes an interrupted cleanup, if any. */
  async cleanUp(collection: Collection, scanned: ScannedRecord): Promise<void> {
    if (collection !== 'keys' || this.#options.side !== 'cloud') return
    const { item, shadow, stateId } = scanned
    if (item && shadow.isSeen) await this.#replaceValueWithDigest(item)
    if (shadow.claims) await this.#releaseClaims(stateId, item && getDigest(await this.#scanner.tables.keys.read(item)))
  }

  async #parse(state: RecordState): Promise<IncomingState | RejectedVerdict> {
    const { collection, id, revision, base, record, active } = state
    const register = { revision, ...(base && { base }), ...(active && { active }) }
    const stateId = { collection, id }
    const table = this.#scanner.tables[collection]
    if (record === null) {
      if (collection === 'settings') return rejectInvalid('Settings are never deleted.')
      return { stateId, registers: { hash: null, ...register }, content: undefined }
    }
    if (table.hasActive !== (active !== undefined))
      return rejectInvalid('Only keys and connections can have a separate active state.')
    const parsedRecord = this.#parseRecord(collection, record)
    if (typeof parsedRecord === 'string') return rejectInvalid(parsedRecord)
    if (table.getId(parsedRecord) !== id) return rejectInvalid('The record does not match the one its state names.')
    const { key, ...recordFields } = collection === 'keys' ? parsedRecord : { ...parsedRecord, key: undefined }
    const secretField = SECRET_FIELDS[collection]
    const hasSecret = key !== undefined || (secretField !== undefined && parsedRecord[secretField] !== undefined)
    if (hasSecret && !this.#options.keepsSecrets) return { refused: NO_SECRET_MESSAGE, code: 'NO_SECRET' }
    if (typeof key === 'string' && (await digestKey(key)) !== parsedRecord.digest)
      return rejectInvalid('"digest" does not match "key".')
    return {
      stateId,
      registers: { hash: await this.#scanner.hashRecord(stateId, recordFields), ...register },
      content: {
        record: recordFields,
        ...(active && { isActive: active.isActive }),
        ...(typeof key === 'string' && { key }),
      },
    }
  }

  #parseRecord(collection: Collection, record: JsonObject): JsonObject | string {
    try {
      return this.#options.validate(collection, record)
    } catch (error) {
      if (isGatewayError(error)) return error.message
      throw error
    }
  }

  /** Tries to apply a state. Resolves to `false` if another write came first. */
  async #tryApply(incoming: IncomingState, report: ReportConflict | undefined): Promise<Verdict | false> {
    const { stateId, registers: incomingRegisters } = incoming
    const { collection } = stateId
    const scanned = await this.#scanner.scanRecord(stateId)
    if (isSyncProblem(scanned)) return rejectInvalid(scanned.problem)
    const { shadow } = scanned
    const { isUncertain = false } = shadow
    const isLocalStricter =
      collection === 'settings' && Reflect.get(scanned.item?.record ?? {}, 'requireApiKey') === true
    const mergeResult = mergeRegisters(shadow, incomingRegisters, {
      isUncertain,
      ...(report && { merge: { collection, isLocalStricter } }),
    })
    const { registers, kept } = mergeResult
    const isUnchanged = areSameRegisters(registers, shadow)
    const verdict = mergeResult.isConcurrent ? 'concurrent' : isUnchanged ? 'known' : 'taken'
    const hasEdit = registers.hash !== null && shadow.hash !== null && shadow.edit !== undefined // the written record keeps its `edit`
    const nextState: ShadowState = {
      ...registers,
      isSeen: areSameRegisters(registers, incomingRegisters),
      ...(isUncertain && mergeResult.isConcurrent && { isUncertain }),
      ...(hasEdit && { edit: shadow.edit }),
    }
    const timestamp = new Date(this.#options.clock.now()).toISOString()
    for (const side of kept) await report?.({ ...stateId, kept: side, at: timestamp })
    const isWritten =
      registers.hash !== shadow.hash ||
      (registers.hash !== null && registers.active?.isActive !== shadow.active?.isActive)
    if (isWritten) {
      const usesIncomingContent = mergeResult.content === 'remote' || registers.hash === incomingRegisters.hash
      const writeResult = await this.#writeRecord(
        scanned,
        nextState,
        usesIncomingContent ? incoming.content : undefined,
      )
      return writeResult === true ? verdict : writeResult
    }
    if (isUnchanged && nextState.isSeen === shadow.isSeen && !isUncertain) return verdict
    const { shadows } = this.#scanner
    return (await shadows.put(collection, withRegisters(shadow, nextState), scanned.knownShadow)) ? verdict : false
  }

  /**
   * Writes a record with its new state. The content is `newContent` or, if absent, the previous content. Writes the shadow first, so after a crash,
   * the next scan knows which side made the change. Resolves to `false` if another write came first.
   */
  async #writeRecord(
    scanned: ScannedRecord,
    nextState: ShadowState,
    newContent: Content | undefined,
  ): Promise<boolean | RejectedVerdict> {
    const { stateId, shadow } = scanned
    const { collection, id } = stateId
    const { shadows, tables } = this.#scanner
    const table = tables[collection]
    const claims = collection === 'keys' ? this.#options.claims : undefined
    const { parked } = shadow
    const sourceItem = scanned.item ?? (parked && { id, version: '', ...parked })
    const content = newContent ?? (sourceItem && (await table.read(sourceItem)))
    const isDeletion = nextState.hash === null || !content
    const slot = isDeletion ? undefined : await table.getSlot(content, sourceItem)
    const freeSlot = await this.#freeSlot(scanned, slot)
    if (freeSlot === false || 'refused' in freeSlot) return freeSlot

    const previousDigest = claims && sourceItem && getDigest(await table.read(sourceItem))
    const newDigest = claims && !isDeletion ? getDigest(content) : undefined
    const claimFields = claims && {
      claims: [...new Set([...(shadow.claims ?? []), previousDigest, newDigest])].filter(isString),
    }
    const pendingShadow = await shadows.put(
      collection,
      { ...shadow, ...claimFields, applying: nextState },
      scanned.knownShadow,
    )
    if (!pendingShadow) return false
    if (newDigest !== undefined && newDigest !== previousDigest && !(await claims?.acquire(newDigest))) {
      const { claims: _, ...shadowFields } = shadow
      const openClaims = (shadow.claims ?? []).filter((claim) => claim !== newDigest)
      await shadows.put(
        collection,
        { ...shadowFields, ...(openClaims.length > 0 && { claims: openClaims }) },
        pendingShadow,
      )
      return { refused: KEY_TAKEN_MESSAGE, code: 'KEY_TAKEN' }
    }

    const { item, extras } = freeSlot
    if (isDeletion) {
      if (item && !(await table.remove(item))) return false
    } else {
      const active = nextState.active && { isActive: nextState.active.isActive }
      const record = await table.buildRecord({ ...content, ...active }, sourceItem)
      if (!(await table.write(item, { slot: slot ?? id, record }))) return false
    }
    for (const extra of extras) await table.remove(extra)
    const { applying, parked: _, slot: __, ...shadowFields } = pendingShadow.shadow
    const updatedShadow = {
      ...withRegisters(shadowFields, nextState),
      ...(slot !== undefined && slot !== id && { slot }),
    }
    if (!(await shadows.put(collection, updatedShadow, pendingShadow))) {
      if (!sourceItem && slot !== undefined) await this.#removeLateRecord(stateId, slot, nextState)
      return false
    }
    if (claims) await this.#releaseClaims(stateId, newDigest)
    await this.#scanner.unpark(collection)
    return true
  }

  /**
   * Parks another record that occupies the slot. Resolves to the item to overwrite and to the items to remove afterward, or to `false` if another
   * write came first.
   */
  async #freeSlot(
    { stateId: { collection, id }, item, extras }: ScannedRecord,
    slot: string | undefined,
  ): Promise<Pick<ScannedRecord, 'item' | 'extras'> | RejectedVerdict | false> {
    const unchanged = { item, extras }
    if (slot === undefined || slot === item?.slot) return unchanged
    const occupant = await this.#scanner.tables[collection].readSlot(slot)
    if (occupant === 'damaged')
      return rejectInvalid('A damaged record is stored in its place. Repair or remove that record first.')
    if (!occupant) return unchanged
    if (occupant.id === id) return { item: occupant, extras: item ? [...extras, item] : extras }
    const parkResult = await this.#park({ collection, id: occupant.id }, slot)
    return parkResult === true ? unchanged : parkResult
  }

  /** Parks a record: moves it into its shadow, because another record needs its slot. */
  async #park(stateId: StateId, slot: string): Promise<boolean | RejectedVerdict> {
    const { collection } = stateId
    const { shadows, tables } = this.#scanner
    const scanned = await this.#scanner.scanRecord(stateId)
    if (isSyncProblem(scanned))
      return rejectInvalid(`The record ${stateId.id} is stored in its place and cannot be synced: ${scanned.problem}`)
    const { shadow, knownShadow, item } = scanned
    if (item?.slot !== slot) return false
    const parked = { slot, record: { ...item.record } }
    return (
      (await shadows.put(collection, { ...shadow, parked }, knownShadow)) !== undefined &&
      tables[collection].remove(item)
    )
  }

  /** Removes a record that a late write created after another writer had already applied a later state. */
  async #removeLateRecord(stateId: StateId, slot: string, createdRegisters: Registers): Promise<void> {
    const shadow = this.#scanner.shadows.get(stateId)?.shadow
    if (shadow?.hash === createdRegisters.hash || shadow?.applying?.hash === createdRegisters.hash) return
    const table = this.#scanner.tables[stateId.collection]
    const slotItem = await table.readSlot(slot)
    if (!slotItem || slotItem === 'damaged' || slotItem.id !== stateId.id) return
    const { record } = await table.read(slotItem)
    if ((await this.#scanner.hashRecord(stateId, record)) === createdRegisters.hash) await table.remove(slotItem)
  }

  /** Releases a key's former digests, except those that this gateway's other keys have. */
  #releaseClaims(stateId: StateId, currentDigest: string | undefined): Promise<boolean> {
    const { store, claims } = this.#options
    const { shadows, tables } = this.#scanner
    return retryOnConflict(async () => {
      const knownShadow = shadows.get(stateId)
      if (!claims || !knownShadow?.shadow.claims || knownShadow.shadow.applying) return true
      const keyring = await store.keyring()
      for (const digest of knownShadow.shadow.claims) {
        if (digest === currentDigest || (await tables.keys.readSlot(await keyring.digestBySha256(digest)))) continue
        await claims.release(digest)
      }
      const { claims: _, ...shadowFields } = knownShadow.shadow
      return (await shadows.put(stateId.collection, shadowFields, knownShadow)) !== undefined
    })
  }
}

type ReportConflict = (conflict: Conflict) => Promise<void>

const getDigest = ({ record }: Content) => String(record.digest)
const isString = (value: unknown) => typeof value === 'string'

const rejectInvalid = (message: string): RejectedVerdict => ({ refused: message, code: 'INVALID' })
/** The fields that the receiving side encrypts. */
const SECRET_FIELDS: Readonly<Partial<Record<Collection, string>>> = { connections: 'apiKey', guards: 'headers' }

const NO_SECRET_MESSAGE =
  'The cloud proxy does not store credentials because it has no `secret`. Set one there, then enable cloud sync again.'
const KEY_TAKEN_MESSAGE = 'Another gateway of this cloud proxy already has this key. Create a new one to replace it.'
