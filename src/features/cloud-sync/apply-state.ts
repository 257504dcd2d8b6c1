import { isGatewayError } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { KeyRecord } from '../../records/record-collections.ts'
import { retryOnConflict } from '../../records/storage-access.ts'
import { digestKey } from './cryptography.ts'
import { areSameRegisters, mergeRegisters, type Registers } from './merge.ts'
import type { Collection, RecordState, Verdict } from './protocol.ts'
import { isSyncProblem, type ScannedRecord, type Scanner } from './scanner.ts'
import { type ShadowState, withRegisters } from './shadows.ts'
import type { Content } from './sync-forms.ts'
import type { Conflict, ReplicaOptions, StateId } from './sync-types.ts'

/** Applies record states received from the other side. */
export interface StateApplier {
  /** Applies a state if it is newer; with `merging`, also if it is concurrent. */
  apply(state: RecordState, merging?: { report(conflict: Conflict): Promise<void> }): Promise<Verdict>
  /** Deletes a key's value from the cloud once the other side has it. */
  forgetValue(where: StateId): Promise<void>
  /** Finishes the interrupted cleanup of a record. */
  cleanUp(collection: Collection, scanned: ScannedRecord): Promise<void>
}

type RejectedVerdict = Exclude<Verdict, string>

/** A state with its validated record. */
interface IncomingState {
  where: StateId
  registers: Registers
  /** `undefined` for a deletion. */
  content: Content | undefined
}

export function createStateApplier(options: ReplicaOptions, scanner: Scanner): StateApplier {
  const { store, side, validate, clock, claims, keepsSecrets } = options
  const { tables, shadows } = scanner

  async function read(state: RecordState): Promise<IncomingState | RejectedVerdict> {
    const { collection, id, revision, base, record, active } = state
    const register = { revision, ...(base && { base }) }
    const where = { collection, id }
    const table = tables[collection]
    if (record === null) {
      if (collection === 'settings') return rejectInvalid('Settings are never deleted.')
      return { where, registers: { hash: null, ...register, ...(active && { active }) }, content: undefined }
    }
    if (table.hasActive !== (active !== undefined))
      return rejectInvalid('Only keys and connections can have a separate active state.')
    const parsed = parseRecord(collection, record)
    if (typeof parsed === 'string') return rejectInvalid(parsed)
    if (table.getId(parsed) !== id) return rejectInvalid('The record does not match the one its state names.')
    const { key, ...rest } = collection === 'keys' ? parsed : { ...parsed, key: undefined }
    const hasSecret = key !== undefined || (collection === 'connections' && parsed.apiKey !== undefined)
    if (hasSecret && !keepsSecrets) return { refused: NO_SECRET, code: 'NO_SECRET' }
    if (typeof key === 'string' && (await digestKey(key)) !== parsed.digest)
      return rejectInvalid('"digest" does not match "key".')
    return {
      where,
      registers: { hash: await scanner.hashRecord(where, rest), ...register, ...(active && { active }) },
      content: { record: rest, ...(active && { isActive: active.isActive }), ...(typeof key === 'string' && { key }) },
    }
  }

  function parseRecord(collection: Collection, record: JsonObject): JsonObject | string {
    try {
      return validate(collection, record)
    } catch (error) {
      if (isGatewayError(error)) return error.message
      throw error
    }
  }

  /** Tries to apply a state. Resolves to `false` if another writer was faster. */
  async function tryApply(incoming: IncomingState, report: Report | undefined): Promise<Verdict | false> {
    const { where, registers: other } = incoming
    const { collection } = where
    const scanned = await scanner.scanRecord(where)
    if (isSyncProblem(scanned)) return rejectInvalid(scanned.problem)
    const { shadow } = scanned
    const { isUncertain = false } = shadow
    const isOwnStricter = collection === 'settings' && Reflect.get(scanned.item?.record ?? {}, 'requireApiKey') === true
    const outcome = mergeRegisters(shadow, other, {
      isUncertain,
      ...(report && { merge: { collection, isOwnStricter } }),
    })
    const { registers, kept } = outcome
    const isSame = areSameRegisters(registers, shadow)
    const verdict = outcome.isConcurrent ? 'concurrent' : isSame ? 'known' : 'taken'
    const hasEdit = registers.hash !== null && shadow.hash !== null && shadow.edit !== undefined // the written record keeps its `edit`
    const next: ShadowState = {
      ...registers,
      isSeen: areSameRegisters(registers, other),
      ...(isUncertain && outcome.isConcurrent && { isUncertain }),
      ...(hasEdit && { edit: shadow.edit }),
    }
    for (const one of kept) await report?.({ ...where, kept: one, at: new Date(clock.now()).toISOString() })
    const isWritten =
      registers.hash !== shadow.hash ||
      (registers.hash !== null && registers.active?.isActive !== shadow.active?.isActive)
    if (isWritten) {
      const isOther = outcome.content === 'other' || registers.hash === other.hash
      const applied = await writeRecord(scanned, next, isOther ? incoming.content : undefined)
      return applied === true ? verdict : applied
    }
    if (isSame && next.isSeen === shadow.isSeen && !isUncertain) return verdict
    return (await shadows.put(collection, withRegisters(shadow, next), scanned.known)) ? verdict : false
  }

  /**
   * Writes a record with a new state and either the `given` content or its previous content. The shadow is written first, so that after a crash the
   * next scan knows whose change it was. Resolves to `false` if another writer was faster.
   */
  async function writeRecord(
    scanned: ScannedRecord,
    next: ShadowState,
    given: Content | undefined,
  ): Promise<boolean | RejectedVerdict> {
    const { where, shadow, extras } = scanned
    const { collection, id } = where
    const table = tables[collection]
    const { parked } = shadow
    const source = scanned.item ?? (parked && { id, version: '', ...parked })
    const content = given ?? (source && (await table.read(source)))
    const isDeletion = next.hash === null || !content
    const slot = isDeletion ? undefined : await table.getSlot(content, source)
    let before = scanned.item
    const others = [...extras]
    if (slot !== undefined && slot !== before?.slot) {
      const existing = await table.readSlot(slot)
      if (existing === 'damaged')
        return rejectInvalid('A damaged record is stored in its place. Repair or remove that record first.')
      if (existing && existing.id === id) {
        if (before) others.push(before)
        before = existing
      } else if (existing) {
        const evicted = await evict({ collection, id: existing.id }, slot)
        if (evicted !== true) return evicted
      }
    }
    const was = claims && source && collection === 'keys' ? getDigest(await table.read(source)) : undefined
    const now = collection === 'keys' && !isDeletion ? getDigest(content) : undefined
    const claimed =
      claims && collection === 'keys'
        ? { claims: [...new Set([...(shadow.claims ?? []), was, now])].filter(isString) }
        : {}
    const ahead = await shadows.put(collection, { ...shadow, ...claimed, applying: next }, scanned.known)
    if (!ahead) return false
    if (claims && now !== undefined && now !== was && !(await claims.take(now))) {
      const { claims: _, ...rest } = shadow
      const open = (shadow.claims ?? []).filter((one) => one !== now)
      await shadows.put(collection, { ...rest, ...(open.length > 0 && { claims: open }) }, ahead)
      return { refused: KEY_TAKEN, code: 'KEY_TAKEN' }
    }
    const isDone = isDeletion
      ? !before || (await table.remove(before))
      : await table.write(before, {
          slot: slot ?? id,
          record: await table.buildRecord(
            { ...content, ...(next.active && { isActive: next.active.isActive }) },
            source,
          ),
        })
    if (!isDone) return false
    for (const other of others) await table.remove(other)
    const { applying, parked: _, slot: __, ...rest } = ahead.shadow
    const done = await shadows.put(
      collection,
      { ...withRegisters(rest, next), ...(slot !== undefined && slot !== id && { slot }) },
      ahead,
    )
    if (!done) {
      if (!source && slot !== undefined) await removeLateRecord(where, slot, next)
      return false
    }
    if (claims && collection === 'keys') await releaseClaims(where, now)
    await scanner.unpark(collection)
    return true
  }

  /** Parks a record: moves it from a slot that another record needs into its shadow. */
  async function evict(where: StateId, slot: string): Promise<boolean | RejectedVerdict> {
    const { collection } = where
    const scanned = await scanner.scanRecord(where)
    if (isSyncProblem(scanned))
      return rejectInvalid(`The record ${where.id} is stored in its place and cannot be synced: ${scanned.problem}`)
    const { shadow, known, item } = scanned
    if (item?.slot !== slot) return false
    const record: JsonObject = { ...item.record }
    return (
      (await shadows.put(collection, { ...shadow, parked: { slot, record } }, known)) !== undefined &&
      tables[collection].remove(item)
    )
  }

  /** Removes a record that a late write created after another writer had already applied a later state. */
  async function removeLateRecord(where: StateId, slot: string, made: Registers): Promise<void> {
    const shadow = shadows.get(where)?.shadow
    if (shadow?.hash === made.hash || shadow?.applying?.hash === made.hash) return
    const table = tables[where.collection]
    const existing = await table.readSlot(slot)
    if (!existing || existing === 'damaged' || existing.id !== where.id) return
    const { record } = await table.read(existing)
    if ((await scanner.hashRecord(where, record)) === made.hash) await table.remove(existing)
  }

  /** Releases a key's former digests, unless another key of this gateway has them. */
  const releaseClaims = (where: StateId, now: string | undefined) =>
    retryOnConflict(async () => {
      const known = shadows.get(where)
      if (!claims || !known?.shadow.claims || known.shadow.applying) return true
      const keyring = await store.keyring()
      for (const digest of known.shadow.claims) {
        if (digest === now || (await tables.keys.readSlot(await keyring.digestBySha256(digest)))) continue
        await claims.release(digest)
      }
      const { claims: _, ...rest } = known.shadow
      return (await shadows.put(where.collection, rest, known)) !== undefined
    })

  async function forgetValue(where: StateId, given?: ScannedRecord): Promise<void> {
    if (side !== 'cloud') return
    const scanned = given ?? (await scanner.scanRecord(where))
    if (isSyncProblem(scanned) || !scanned.item) return
    const { item } = scanned
    const { sha256 } = item.record as KeyRecord // `keys` only contains key records
    if (sha256 !== undefined) return
    const record = await tables.keys.buildRecord(await tables.keys.read(item), item)
    await tables.keys.write(item, { slot: item.slot, record }) // if another writer was faster, the next scan handles it
  }

  return {
    async apply(state, merging) {
      const incoming = await read(state)
      if ('refused' in incoming) return incoming
      return retryOnConflict(() => tryApply(incoming, merging && ((conflict) => merging.report(conflict))))
    },
    forgetValue: (where) => forgetValue(where),
    async cleanUp(collection, scanned) {
      if (collection !== 'keys' || side !== 'cloud') return
      const { item, shadow, where } = scanned
      if (item && shadow.isSeen) await forgetValue(where, scanned)
      if (shadow.claims) await releaseClaims(where, item && getDigest(await tables.keys.read(item)))
    },
  }
}

type Report = (conflict: Conflict) => Promise<void>

const getDigest = ({ record }: Content) => String(record.digest)
const isString = (value: unknown) => typeof value === 'string'

const rejectInvalid = (refused: string): RejectedVerdict => ({ refused, code: 'INVALID' })
const NO_SECRET =
  'The cloud proxy does not store credentials because it has no `secret`. Set one there, then enable cloud sync again.'
const KEY_TAKEN = 'Another gateway of this cloud proxy already has this key. Create a new one to replace it.'
