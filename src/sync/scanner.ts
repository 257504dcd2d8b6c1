import { isGatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { isAway, retryLostRace } from '../store/storage-access.ts'
import { type Mirrored, mirroredCollections } from './collections.ts'
import type { MirroredItem } from './forms.ts'
import { changedRegister, NEVER } from './merge.ts'
import { type Collection, collections } from './protocol.ts'
import { type Applied, createShadows, type KnownShadow, type Shadow, type Shadows, withRegisters } from './shadows.ts'
import type { Refusal, ReplicaOptions, Side, StateId } from './types.ts'

/** What a record holds now, without its content. */
export interface Observed {
  hash: string | null
  isActive?: boolean
  /** Of the last call that set whether it is active, or the settings. */
  edit?: string
}

/** A record, after its shadow has been brought up to it. */
export interface Look {
  where: StateId
  known: KnownShadow | undefined
  shadow: Shadow
  /** The record in the store; none when it is deleted or parked. */
  item: MirroredItem | undefined
  /** Others of the same id, left of a change that was cut off. */
  extras: MirroredItem[]
}

/** A record that cannot be mirrored as it stands: why. */
export interface Unmirrored {
  problem: string
}

export const isUnmirrored = (value: object): value is Unmirrored => 'problem' in value

/** A record that the other side is to get. */
export interface PendingState extends StateId {
  /** Absent after a deletion. */
  item?: MirroredItem
}

/** Finds what has changed in a store since its shadows were written. */
export interface Scanner {
  tables: Record<Collection, Mirrored>
  shadows: Shadows
  /** Looks at all records. Resolves to those that the other side has not confirmed, deletions first, and to those that cannot be mirrored. */
  scan(): Promise<{ pending: PendingState[]; refused: Refusal[] }>
  /** Looks at one record in the storage itself. */
  look(where: StateId): Promise<Look | Unmirrored>
  /** The same, of a record that was found; resolves to `false` when another writer was faster. */
  lookAt(where: StateId, found: MirroredItem[] | 'damaged'): Promise<Look | Unmirrored | false>
  hashOf(where: StateId, record: JsonObject): Promise<string>
  /** Puts records back whose slots are free again. */
  unpark(collection: Collection): Promise<void>
}

/** Records that are read at once. */
const BATCH = 64
/** Records that are compared before others get their turn. */
const COMPARED = 5_000

/** `tidy` is called with each record that is as its shadow says, when something besides is to be done for it. */
export function createScanner(
  { store, side, mirror, validate, clock }: ReplicaOptions,
  tidy: (collection: Collection, look: Look) => Promise<void>,
): Scanner {
  const tables = mirroredCollections({ store, side, validate })
  const shadows = createShadows(store, { mirror, clock })
  const observed = new WeakMap<object, Observed | Unmirrored>()
  let tick = 0

  const hashOf: Scanner['hashOf'] = async ({ collection, id }, { updatedAt, ...content }) =>
    (await store.vault()).sign(`mirror/${collection}/${id}`, JSON.stringify(sorted(content)))

  async function observe(collection: Collection, item: MirroredItem): Promise<Observed | Unmirrored> {
    const before = observed.get(item.record)
    if (before) return before
    const now = await tables[collection]
      .read(item)
      .then(
        async ({ record, isActive, edit }): Promise<Observed> => ({
          hash: await hashOf({ collection, id: item.id }, record),
          ...(isActive !== undefined && { isActive }),
          ...(edit !== undefined && { edit }),
        }),
      )
      .catch(problemOf)
    observed.set(item.record, now)
    return now
  }

  /** The shadow of a record that has none: of settings the defaults, which were never changed. */
  async function noShadow(where: StateId): Promise<Shadow> {
    const hash = where.collection === 'settings' ? await hashOf(where, { requireApiKey: false }) : null
    const isUncertain = shadows.hasUncertain()
    return { id: where.id, hash, revision: NEVER, isSeen: true, ...(isUncertain && { isUncertain }) }
  }

  const lookAt: Scanner['lookAt'] = async (where, found) => {
    if (found === 'damaged') return { problem: 'The record is damaged. Repair or remove it: GET /api/health names it.' }
    const { collection } = where
    const known = shadows.get(where)
    const shadow = known?.shadow ?? (await noShadow(where))
    const item = await meant(collection, found, shadow)
    const extras = found.filter((one) => one !== item)
    const { parked, ...unparked } = shadow
    if (!item && parked) return { where, known, shadow, item, extras }
    const now = item ? await observe(collection, item) : { hash: null }
    if (isUnmirrored(now)) return now
    if (item && parked) {
      // It was to be taken out of the store. Its new version makes a removal that is still under way fail.
      if (await tables[collection].write(item, item)) await shadows.put(collection, unparked, known)
      return false
    }
    if (item && shadow.applying?.hash === now.hash)
      for (const extra of extras.splice(0)) await tables[collection].remove(extra)
    const slot = item && item.slot !== item.id ? item.slot : undefined
    const next = scanned(shadow, now, { side, slot, at: clock.now() })
    if (next === shadow) return { where, known, shadow, item, extras }
    const written = await shadows.put(collection, next, known)
    return written ? { where, known: written, shadow: next, item, extras } : false
  }

  /** Of several records with one id that which a change was about, or the oldest. */
  async function meant(
    collection: Collection,
    found: MirroredItem[],
    { applying }: Shadow,
  ): Promise<MirroredItem | undefined> {
    if (found.length < 2 || !applying) return found[0]
    for (const item of found) {
      const now = await observe(collection, item)
      if (!isUnmirrored(now) && now.hash === applying.hash) return item
    }
    return found[0]
  }

  const slotOf = (where: StateId) => shadows.get(where)?.shadow.slot

  const look: Scanner['look'] = (where) =>
    retryLostRace(async () => {
      const found = await tables[where.collection].find([{ id: where.id, slot: slotOf(where) }])
      return lookAt(where, found.get(where.id) ?? [])
    })

  /** Looks at records that are not as their shadows say. */
  async function lookAll(collection: Collection, ids: readonly string[]): Promise<Refusal[]> {
    const refused: Refusal[] = []
    for (let from = 0; from < ids.length; from += BATCH) {
      const some = ids.slice(from, from + BATCH)
      const found = await tables[collection].find(some.map((id) => ({ id, slot: slotOf({ collection, id }) })))
      await Promise.all(
        some.map(async (id) => {
          const where = { collection, id }
          const seen = (await lookAt(where, found.get(id) ?? [])) || (await look(where))
          if (isUnmirrored(seen)) refused.push({ ...where, message: seen.problem, code: 'INVALID' })
          else await tidy(collection, seen)
        }),
      )
      await store.turnEnd()
    }
    return refused
  }

  async function observeAll(collection: Collection, items: readonly MirroredItem[]): Promise<void> {
    const unknown = items.filter(({ record }) => !observed.has(record))
    for (let from = 0; from < unknown.length; from += BATCH) {
      await Promise.all(unknown.slice(from, from + BATCH).map((item) => observe(collection, item)))
      await store.turnEnd()
    }
  }

  async function scanCollection(collection: Collection) {
    const items = await tables[collection].list()
    await observeAll(collection, items)
    const refused: Refusal[] = []
    const odd = new Set<string>()
    let compared = 0
    for (const { id, record } of items) {
      const known = shadows.get({ collection, id })
      const now = observed.get(record)
      const isMet = known?.met === tick
      if (known) known.met = tick
      if (now && isUnmirrored(now)) refused.push({ collection, id, message: now.problem, code: 'INVALID' })
      else if (!known || !now || isMet || !isUnchanged(known.shadow, now)) odd.add(id)
      if (++compared % COMPARED === 0) await store.turnEnd()
    }
    for (const known of shadows.of(collection)) {
      const { id, hash, parked, applying, claims } = known.shadow
      if (known.met !== tick && (hash !== null || parked || applying || claims)) odd.add(id)
    }
    refused.push(...(await lookAll(collection, [...odd])))
    await unpark(collection)
    return { pending: await pendingOf(collection), refused }
  }

  async function pendingOf(collection: Collection): Promise<PendingState[]> {
    const pending: PendingState[] = []
    let hasLive = false
    for (const { shadow } of shadows.of(collection)) {
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
      if (!parked || (await tables[collection].at(parked.slot))) continue
      const back = await observe(collection, { id: shadow.id, version: '', ...parked })
      if (isUnmirrored(back)) continue
      if (await tables[collection].write(undefined, parked)) await shadows.put(collection, shadow, known)
    }
  }

  return {
    tables,
    shadows,
    look,
    lookAt,
    hashOf,
    unpark,
    async scan() {
      await shadows.load({ isWhole: true })
      tick++
      const all = []
      for (const collection of collections) all.push(await scanCollection(collection))
      return { pending: all.flatMap(({ pending }) => pending), refused: all.flatMap(({ refused }) => refused) }
    },
  }
}

function isUnchanged(shadow: Shadow, now: Observed): boolean {
  return !shadow.applying && !shadow.parked && !shadow.claims && isAsBefore(shadow, now)
}

const isAsBefore = ({ hash, active, edit }: Omit<Applied, 'isSeen'>, now: Observed) =>
  now.hash === hash && (hash === null || (now.isActive === active?.isActive && now.edit === edit))

/**
 * The shadow of a record that holds this now: the same object when it has not changed. `at`: a time, from which an uncertain shadow counts on, as
 * the counts after its own may have been given before.
 */
export function scanned(
  shadow: Shadow,
  now: Observed,
  { side, slot, at }: { side: Side; slot?: string | undefined; at: number },
): Shadow {
  if (isAsBefore(shadow, now))
    return now.hash === null || slot === shadow.slot ? shadow : { ...shadow, ...(slot !== undefined && { slot }) }
  const { applying, ...rest } = shadow
  const place = slot === undefined ? {} : { slot }
  if (applying && isAsBefore(applying, now)) return { ...withRegisters(rest, applying), ...place }
  const { isUncertain } = shadow
  const counted = { side, ...(isUncertain && { atLeast: at }) }
  const next: Applied = {
    ...contentNow(shadow, now, counted),
    ...activeNow(shadow, now, counted),
    ...(now.edit !== undefined && { edit: now.edit }),
    ...(isUncertain && { isUncertain }),
    isSeen: false,
  }
  return { ...withRegisters(rest, next), ...place }
}

interface ChangeOptions {
  side: Side
  /** What a new count is at the least. */
  atLeast?: number
}

/** The settings are set anew by a call that leaves them as they are, too. */
function contentNow(
  shadow: Shadow,
  now: Observed,
  { side, atLeast }: ChangeOptions,
): Pick<Applied, 'hash' | 'revision' | 'base'> {
  const { hash, revision, base, applying, edit } = shadow
  const isSetAnew = now.isActive === undefined && now.edit !== edit
  if (now.hash === hash && !isSetAnew) return { hash, revision, ...(base && { base }) }
  if (applying && now.hash === applying.hash && !isSetAnew) return { hash: now.hash, revision: applying.revision }
  return { hash: now.hash, ...changedRegister(shadow, side, atLeast) }
}

/** A record that was made anew is active, or not, by a decision of its own; so is one that a call sets to what it was. */
function activeNow(
  { hash, active, applying, edit }: Shadow,
  now: Observed,
  { side, atLeast }: ChangeOptions,
): Pick<Applied, 'active'> {
  const { isActive } = now
  const isSetAnew = now.edit !== edit
  if (isActive === undefined || (hash !== null && isActive === active?.isActive && !isSetAnew))
    return active ? { active } : {}
  if (applying?.active && applying.active.isActive === isActive && now.edit === applying.edit)
    return { active: applying.active }
  return { active: { isActive, ...changedRegister(active ?? { revision: NEVER }, side, atLeast) } }
}

/** A failure to read a record as its problem. Throws when the storage itself has failed. */
function problemOf(error: unknown): Unmirrored {
  if (isAway(error) || !isGatewayError(error) || error.code === 'SECRET_MISMATCH') throw error
  return { problem: error.message }
}

/** A JSON value with the members of its objects in order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}
