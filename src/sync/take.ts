import { isGatewayError } from '../errors.ts'
import type { JsonObject } from '../lib/json.ts'
import type { KeyRecord } from '../store/collections.ts'
import { retryLostRace } from '../store/storage-access.ts'
import { digestOfKey } from './cryptography.ts'
import type { Content } from './forms.ts'
import { isSameRegisters, type Registers, settled } from './merge.ts'
import type { Collection, MirrorState, Verdict } from './protocol.ts'
import { isUnmirrored, type Look, type Scanner } from './scanner.ts'
import { type Applied, withRegisters } from './shadows.ts'
import type { Conflict, ReplicaOptions, StateId } from './types.ts'

/** Takes the states of the other side. */
export interface Taker {
  /** Takes what is newer in a state; with `merging`, also what is concurrent. */
  take(state: MirrorState, merging?: { report(conflict: Conflict): Promise<void> }): Promise<Verdict>
  /** The value of a key that the other side has is not kept at the cloud. */
  forgetValue(where: StateId): Promise<void>
  /** Does what was left undone for a record. */
  tidy(collection: Collection, look: Look): Promise<void>
}

type Refused = Exclude<Verdict, string>

/** A state whose record has been read. */
interface Incoming {
  where: StateId
  registers: Registers
  /** Absent of a deletion. */
  content: Content | undefined
}

export function createTaker(options: ReplicaOptions, scanner: Scanner): Taker {
  const { store, side, validate, clock, claims, keepsSecrets } = options
  const { tables, shadows } = scanner

  async function read(state: MirrorState): Promise<Incoming | Refused> {
    const { collection, id, revision, base, record, active } = state
    const register = { revision, ...(base && { base }) }
    const where = { collection, id }
    const table = tables[collection]
    if (record === null) {
      if (collection === 'settings') return invalid('Settings are never deleted.')
      return { where, registers: { hash: null, ...register, ...(active && { active }) }, content: undefined }
    }
    if (table.hasActive !== (active !== undefined))
      return invalid('Keys and connections, and no other records, say apart whether they are active.')
    const parsed = parsedOf(collection, record)
    if (typeof parsed === 'string') return invalid(parsed)
    if (table.idOf(parsed) !== id) return invalid('The record is not the one that its state names.')
    const { key, ...rest } = collection === 'keys' ? parsed : { ...parsed, key: undefined }
    const hasSecret = key !== undefined || (collection === 'connections' && parsed.apiKey !== undefined)
    if (hasSecret && !keepsSecrets) return { refused: NO_SECRET, code: 'NO_SECRET' }
    if (typeof key === 'string' && (await digestOfKey(key)) !== parsed.digest)
      return invalid('"digest" is not that of "key".')
    return {
      where,
      registers: { hash: await scanner.hashOf(where, rest), ...register, ...(active && { active }) },
      content: { record: rest, ...(active && { isActive: active.isActive }), ...(typeof key === 'string' && { key }) },
    }
  }

  function parsedOf(collection: Collection, record: JsonObject): JsonObject | string {
    try {
      return validate(collection, record)
    } catch (error) {
      if (isGatewayError(error)) return error.message
      throw error
    }
  }

  /** `false` when another writer was faster. */
  async function attempt(incoming: Incoming, report: Report | undefined): Promise<Verdict | false> {
    const { where, registers: other } = incoming
    const { collection } = where
    const look = await scanner.look(where)
    if (isUnmirrored(look)) return invalid(look.problem)
    const { shadow } = look
    const { isUncertain = false } = shadow
    const isOwnStricter = collection === 'settings' && Reflect.get(look.item?.record ?? {}, 'requireApiKey') === true
    const outcome = settled(shadow, other, { isUncertain, ...(report && { merge: { collection, isOwnStricter } }) })
    const { registers, kept } = outcome
    const isSame = isSameRegisters(registers, shadow)
    const verdict = outcome.isConcurrent ? 'concurrent' : isSame ? 'known' : 'taken'
    const hasEdit = registers.hash !== null && shadow.hash !== null && shadow.edit !== undefined // what is written keeps that of its record
    const next: Applied = {
      ...registers,
      isSeen: isSameRegisters(registers, other),
      ...(isUncertain && outcome.isConcurrent && { isUncertain }),
      ...(hasEdit && { edit: shadow.edit }),
    }
    for (const one of kept) await report?.({ ...where, kept: one, at: new Date(clock.now()).toISOString() })
    const isWritten =
      registers.hash !== shadow.hash ||
      (registers.hash !== null && registers.active?.isActive !== shadow.active?.isActive)
    if (isWritten) {
      const isOther = outcome.content === 'other' || registers.hash === other.hash
      const applied = await apply(look, next, isOther ? incoming.content : undefined)
      return applied === true ? verdict : applied
    }
    if (isSame && next.isSeen === shadow.isSeen && !isUncertain) return verdict
    return (await shadows.put(collection, withRegisters(shadow, next), look.known)) ? verdict : false
  }

  /**
   * Makes a record what it is to be, with `given` as its content or its own. The shadow says so before the record is written, so that after a crash
   * it is known whose change it was. `false` when another writer was faster.
   */
  async function apply(look: Look, next: Applied, given: Content | undefined): Promise<boolean | Refused> {
    const { where, shadow, extras } = look
    const { collection, id } = where
    const table = tables[collection]
    const { parked } = shadow
    const source = look.item ?? (parked && { id, version: '', ...parked })
    const content = given ?? (source && (await table.read(source)))
    const isDeletion = next.hash === null || !content
    const slot = isDeletion ? undefined : await table.slotOf(content, source)
    let before = look.item
    const others = [...extras]
    if (slot !== undefined && slot !== before?.slot) {
      const there = await table.at(slot)
      if (there === 'damaged') return invalid('A damaged record is in its place. Repair or remove that first.')
      if (there && there.id === id) {
        if (before) others.push(before)
        before = there
      } else if (there) {
        const evicted = await evict({ collection, id: there.id }, slot)
        if (evicted !== true) return evicted
      }
    }
    const was = claims && source && collection === 'keys' ? digestIn(await table.read(source)) : undefined
    const now = collection === 'keys' && !isDeletion ? digestIn(content) : undefined
    const claimed =
      claims && collection === 'keys'
        ? { claims: [...new Set([...(shadow.claims ?? []), was, now])].filter(isText) }
        : {}
    const ahead = await shadows.put(collection, { ...shadow, ...claimed, applying: next }, look.known)
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
          record: await table.recordOf({ ...content, ...(next.active && { isActive: next.active.isActive }) }, source),
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
      if (!source && slot !== undefined) await takeBack(where, slot, next)
      return false
    }
    if (claims && collection === 'keys') await releaseClaims(where, now)
    await scanner.unpark(collection)
    return true
  }

  /** Takes a record out of the place of another one, into its shadow. */
  async function evict(where: StateId, slot: string): Promise<boolean | Refused> {
    const { collection } = where
    const look = await scanner.look(where)
    if (isUnmirrored(look))
      return invalid(`The record ${where.id} is in its place, and cannot be mirrored: ${look.problem}`)
    const { shadow, known, item } = look
    if (item?.slot !== slot) return false
    const record: JsonObject = { ...item.record }
    return (
      (await shadows.put(collection, { ...shadow, parked: { slot, record } }, known)) !== undefined &&
      tables[collection].remove(item)
    )
  }

  /** Another writer has taken a later state while a record was made: it does not know of that. */
  async function takeBack(where: StateId, slot: string, made: Registers): Promise<void> {
    const shadow = shadows.get(where)?.shadow
    if (shadow?.hash === made.hash || shadow?.applying?.hash === made.hash) return
    const table = tables[where.collection]
    const there = await table.at(slot)
    if (!there || there === 'damaged' || there.id !== where.id) return
    const { record } = await table.read(there)
    if ((await scanner.hashOf(where, record)) === made.hash) await table.remove(there)
  }

  /** Releases the digests that a key has no more, unless another key of this gateway has them. */
  const releaseClaims = (where: StateId, now: string | undefined) =>
    retryLostRace(async () => {
      const known = shadows.get(where)
      if (!claims || !known?.shadow.claims || known.shadow.applying) return true
      const vault = await store.vault()
      for (const digest of known.shadow.claims) {
        if (digest === now || (await tables.keys.at(await vault.digestBySha256(digest)))) continue
        await claims.release(digest)
      }
      const { claims: _, ...rest } = known.shadow
      return (await shadows.put(where.collection, rest, known)) !== undefined
    })

  async function forgetValue(where: StateId, given?: Look): Promise<void> {
    if (side !== 'cloud') return
    const look = given ?? (await scanner.look(where))
    if (isUnmirrored(look) || !look.item) return
    const { item } = look
    const { sha256 } = item.record as KeyRecord // of the collection of keys
    if (sha256 !== undefined) return
    const record = await tables.keys.recordOf(await tables.keys.read(item), item)
    await tables.keys.write(item, { slot: item.slot, record }) // what another writer has made of it is looked at later
  }

  return {
    async take(state, merging) {
      const incoming = await read(state)
      if ('refused' in incoming) return incoming
      return retryLostRace(() => attempt(incoming, merging && ((conflict) => merging.report(conflict))))
    },
    forgetValue: (where) => forgetValue(where),
    async tidy(collection, look) {
      if (collection !== 'keys' || side !== 'cloud') return
      const { item, shadow, where } = look
      if (item && shadow.isSeen) await forgetValue(where, look)
      if (shadow.claims) await releaseClaims(where, item && digestIn(await tables.keys.read(item)))
    },
  }
}

type Report = (conflict: Conflict) => Promise<void>

const digestIn = ({ record }: Content) => String(record.digest)
const isText = (value: unknown) => typeof value === 'string'

const invalid = (refused: string): Refused => ({ refused, code: 'INVALID' })
const NO_SECRET =
  'The cloud proxy keeps no credentials, since it has no `secret`. Give it one, then enable cloud mode again.'
const KEY_TAKEN = 'Another gateway of this cloud proxy has the key. Make a new one in its place.'
