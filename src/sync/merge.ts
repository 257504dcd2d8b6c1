import type { Collection, Revision } from './protocol.ts'
import type { Conflict, Side } from './types.ts'

/*
 * How two states of a record compare, and what becomes of two that did not see each other. A state has two registers, each with a revision of its
 * own: its content, and of keys and connections whether they are active.
 */

/** A change of a side: how many changes of each side it has seen, and what it was made on. */
interface Register {
  revision: Revision
  /** The last state that both sides had before this one; absent: this one. It decides only after an old copy of a storage was put back. */
  base?: Revision
}

/** What a side knows of a record without its content. */
export interface Registers extends Register {
  /** Of the content, by the side's own vault; `null` when there is none, as after a deletion. */
  hash: string | null
  /** The last known one after a deletion. */
  active?: Active
}

export interface Active extends Register {
  isActive: boolean
}

/** Of a record that neither side has changed. */
export const NEVER: Revision = [0, 0]

/** How one revision stands to another. */
export function relation(one: Revision, other: Revision): 'same' | 'newer' | 'older' | 'concurrent' {
  const isOlder = isAtMost(one, other)
  if (isAtMost(other, one)) return isOlder ? 'same' : 'newer'
  return isOlder ? 'older' : 'concurrent'
}

const isAtMost = (one: Revision, other: Revision) => one[0] <= other[0] && one[1] <= other[1]

/** That of a side's change. `atLeast`: its count, where those before may have been given twice. */
export const changed = ([home, cloud]: Revision, side: Side, atLeast = 0): Revision =>
  side === 'home' ? [Math.max(home + 1, atLeast), cloud] : [home, Math.max(cloud + 1, atLeast)]

/** A side's change of a register. */
export const changedRegister = ({ revision, base = revision }: Register, side: Side, atLeast?: number): Register => ({
  revision: changed(revision, side, atLeast),
  base,
})

/** That of two states with the same content. */
export const joined = (one: Revision, other: Revision): Revision => [
  Math.max(one[0], other[0]),
  Math.max(one[1], other[1]),
]

/** Do both say the same in the same revision? */
export const isSameRegisters = (one: Registers, other: Registers): boolean =>
  one.hash === other.hash &&
  relation(one.revision, other.revision) === 'same' &&
  (one.hash === null || (one.active === undefined) === (other.active === undefined)) &&
  (!one.active || !other.active || isSameActive(one.active, other.active))

const isSameActive = (one: Active, other: Active) =>
  one.isActive === other.isActive && relation(one.revision, other.revision) === 'same'

/** The result of merging a state of the other side into the state of one side. */
export interface Settlement {
  registers: Registers
  /** Whose content it is; that of both when they are the same. */
  content: 'own' | 'other'
  /** Is there something in the other that this side has not merged? */
  isConcurrent: boolean
  /** Whose change stays where both have changed something. */
  kept: readonly Conflict['kept'][]
}

/** What two states that did not see each other are settled by. */
export interface Merge {
  collection: Collection
  /** Of settings: is this side's content the stricter one? */
  isOwnStricter: boolean
}

/**
 * Takes what is newer in the other state, and joins what is the same. What neither has seen stays as it is here, unless home merges: a deletion wins
 * over a change, requiring keys over not requiring them, paused over active, and otherwise home's change. `isUncertain`: this side may have got an
 * old copy of its storage back, so that its state has seen no more than its base.
 */
export function settled(
  { hash, revision, base, active: ownActive }: Registers,
  other: Registers,
  { merge, isUncertain = false }: { merge?: Merge | undefined; isUncertain?: boolean } = {},
): Settlement {
  const kept = new Set<Conflict['kept']>()
  let isConcurrent = false
  const own = { hash, revision, ...(base && { base }), ...(ownActive && { active: ownActive }) } // no more of a shadow
  let next: { hash: string | null; register: Register } = { hash, register: { revision, ...(base && { base }) } }
  let content: Settlement['content'] = 'own'

  const found = settledRegister(own, other, { isSame: hash === other.hash, isUncertain })
  if (found !== 'concurrent') {
    if (found.isOther) content = 'other'
    next = { hash: found.isOther ? other.hash : hash, register: found.register }
  } else if (!merge) isConcurrent = true
  else {
    const isOwn = isOwnContent(own, other, merge)
    if (!isOwn) content = 'other'
    next = { hash: isOwn ? hash : other.hash, register: merged(own, other) }
    kept.add(isOwn ? 'home' : 'cloud')
  }

  const active = settledActive(ownActive, other.active, { isMerging: merge !== undefined, isUncertain })
  if (active.isConcurrent) isConcurrent = true
  if (active.kept && next.hash !== null) kept.add(active.kept)
  if (next.hash === null && hash !== other.hash && hasUnseenActive(own, other)) {
    if (merge) kept.add(hash === null ? 'home' : 'cloud')
    else return { registers: own, content: 'own', isConcurrent: true, kept: [] } // home reports it, and then deletes the record again
  }
  const registers = { hash: next.hash, ...next.register, ...(active.register && { active: active.register }) }
  return { registers, content, isConcurrent, kept: [...kept] }
}

/** Was the record paused or resumed where it is there, unseen by the side that has deleted it? */
function hasUnseenActive(one: Registers, other: Registers): boolean {
  const [deleted, kept] = one.hash === null ? [one.active, other.active] : [other.active, one.active]
  if (!deleted || !kept || deleted.isActive === kept.isActive) return false
  const found = relation(kept.revision, deleted.revision)
  return found === 'newer' || found === 'concurrent'
}

/** What becomes of one register, given whether both say the same: that of the other side or this one's, which has then seen the other. */
function settledRegister(
  own: Register,
  other: Register,
  { isSame, isUncertain }: { isSame: boolean; isUncertain: boolean },
): { isOther: boolean; register: Register } | 'concurrent' {
  const found = relation(other.revision, own.revision)
  const { revision, base } = own
  const kept = { revision, ...(base && { base: isAtMost(other.revision, base) ? base : other.revision }) }
  if (found === 'newer') {
    if (!isSame && other.base && !isAtMost(revision, other.base)) return 'concurrent'
    return { isOther: true, register: { revision: other.revision } }
  }
  if (found === 'older') {
    const hasSeen = isSame || !isUncertain || !base || isAtMost(other.revision, base)
    return hasSeen ? { isOther: false, register: kept } : 'concurrent'
  }
  if (!isSame) return 'concurrent' // the same revision in two histories, one of which an old copy has ended
  return { isOther: false, register: found === 'same' ? kept : joinedRegister(own, other) }
}

const joinedRegister = (own: Register, other: Register): Register => ({
  revision: joined(own.revision, other.revision),
  base: other.revision,
})

/** That of a merge, which home makes: newer than both. */
const merged = (own: Register, other: Register): Register => changedRegister(joinedRegister(own, other), 'home')

function isOwnContent(own: Registers, other: Registers, { collection, isOwnStricter }: Merge): boolean {
  if (own.hash === null || other.hash === null) return own.hash === null
  return collection !== 'settings' || isOwnStricter
}

function settledActive(
  own: Active | undefined,
  other: Active | undefined,
  { isMerging, isUncertain }: { isMerging: boolean; isUncertain: boolean },
): { register?: Active; isConcurrent?: boolean; kept?: Conflict['kept'] } {
  if (!own) return other ? { register: { isActive: other.isActive, revision: other.revision } } : {}
  if (!other) return { register: own }
  const { isActive } = own
  const found = settledRegister(own, other, { isSame: isActive === other.isActive, isUncertain })
  if (found !== 'concurrent')
    return { register: { isActive: found.isOther ? other.isActive : isActive, ...found.register } }
  if (!isMerging) return { register: own, isConcurrent: true }
  return { register: { isActive: false, ...merged(own, other) }, kept: isActive ? 'cloud' : 'home' }
}
