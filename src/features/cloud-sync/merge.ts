import type { Collection, Revision } from './protocol.ts'
import type { Conflict, Side } from './sync-types.ts'

/*
 * Compares two states of a record, and merges concurrent ones. A state has two registers, each with its own revision: one for the content and, for
 * keys and connections, one for whether they are active.
 */

/** A change by one side. The revision contains the number of changes from each side. */
interface Register {
  revision: Revision
  /** The last revision that both sides had before this one; default: this one. Only needed after a store was restored from an old copy. */
  base?: Revision
}

/** A record's state without its content. */
export interface Registers extends Register {
  /** The hash of the content, computed with this side's keyring; `null` if there is no content, such as after a deletion. */
  hash: string | null
  /** After a deletion, the last known value. */
  active?: Active
}

export interface Active extends Register {
  isActive: boolean
}

/** The revision of a record that neither side has changed. */
export const NEVER: Revision = [0, 0]

/** Compares two revisions. */
export function compareRevisions(one: Revision, other: Revision): 'same' | 'newer' | 'older' | 'concurrent' {
  const isOlder = isAtMost(one, other)
  if (isAtMost(other, one)) return isOlder ? 'same' : 'newer'
  return isOlder ? 'older' : 'concurrent'
}

const isAtMost = (one: Revision, other: Revision) => one[0] <= other[0] && one[1] <= other[1]

/** Returns the revision after a change by one side. `atLeast` is the minimum count, in case lower counts have already been used. */
export const advanceRevision = ([gateway, cloud]: Revision, side: Side, atLeast = 0): Revision =>
  side === 'gateway' ? [Math.max(gateway + 1, atLeast), cloud] : [gateway, Math.max(cloud + 1, atLeast)]

/** Returns the register after a change by one side. */
export const advanceRegister = ({ revision, base = revision }: Register, side: Side, atLeast?: number): Register => ({
  revision: advanceRevision(revision, side, atLeast),
  base,
})

/** Returns the revision that includes both revisions. */
export const joinRevisions = (one: Revision, other: Revision): Revision => [
  Math.max(one[0], other[0]),
  Math.max(one[1], other[1]),
]

/** Returns whether both have the same values at the same revisions. */
export const areSameRegisters = (one: Registers, other: Registers): boolean =>
  one.hash === other.hash &&
  compareRevisions(one.revision, other.revision) === 'same' &&
  (one.hash === null || (one.active === undefined) === (other.active === undefined)) &&
  (!one.active || !other.active || isSameActive(one.active, other.active))

const isSameActive = (one: Active, other: Active) =>
  one.isActive === other.isActive && compareRevisions(one.revision, other.revision) === 'same'

/** The result of merging the other side's state into a side's own. */
export interface MergeResult {
  registers: Registers
  /** Whose content to keep; `own` if both are equal. */
  content: 'own' | 'other'
  /** Whether the other state has changes that weren't merged. */
  isConcurrent: boolean
  /** Whose change won in each conflict. */
  kept: readonly Conflict['kept'][]
}

/** The rules for deciding between concurrent states. */
export interface MergeRules {
  collection: Collection
  /** For settings: whether this side's content is stricter. */
  isLocalStricter: boolean
}

/**
 * Merges the other side's newer changes. Only the gateway merges concurrent changes, by these rules: a deletion wins over a change, requiring keys
 * over not requiring them, and paused over active; otherwise, the gateway's change wins. `isUncertain` means that this side may have been restored
 * from an old copy, so its state is only known to include its base.
 */
export function mergeRegisters(
  { hash, revision, base, active: ownActive }: Registers,
  other: Registers,
  { merge, isUncertain = false }: { merge?: MergeRules | undefined; isUncertain?: boolean } = {},
): MergeResult {
  const kept = new Set<Conflict['kept']>()
  let isConcurrent = false
  const own = { hash, revision, ...(base && { base }), ...(ownActive && { active: ownActive }) } // omits the shadow's other fields
  let next: { hash: string | null; register: Register } = { hash, register: { revision, ...(base && { base }) } }
  let content: MergeResult['content'] = 'own'

  const found = mergeRegister(own, other, { isSame: hash === other.hash, isUncertain })
  if (found !== 'concurrent') {
    if (found.isOther) content = 'other'
    next = { hash: found.isOther ? other.hash : hash, register: found.register }
  } else if (!merge) isConcurrent = true
  else {
    const isOwn = keepsLocalContent(own, other, merge)
    if (!isOwn) content = 'other'
    next = { hash: isOwn ? hash : other.hash, register: mergeConflicting(own, other) }
    kept.add(isOwn ? 'gateway' : 'cloud')
  }

  const active = mergeActive(ownActive, other.active, { isMerging: merge !== undefined, isUncertain })
  if (active.isConcurrent) isConcurrent = true
  if (active.kept && next.hash !== null) kept.add(active.kept)
  if (next.hash === null && hash !== other.hash && hasUnseenActive(own, other)) {
    if (merge) kept.add(hash === null ? 'gateway' : 'cloud')
    else return { registers: own, content: 'own', isConcurrent: true, kept: [] } // the gateway reports the conflict, then deletes the record again
  }
  const registers = { hash: next.hash, ...next.register, ...(active.register && { active: active.register }) }
  return { registers, content, isConcurrent, kept: [...kept] }
}

function hasUnseenActive(one: Registers, other: Registers): boolean {
  const [deleted, kept] = one.hash === null ? [one.active, other.active] : [other.active, one.active]
  if (!deleted || !kept || deleted.isActive === kept.isActive) return false
  const found = compareRevisions(kept.revision, deleted.revision)
  return found === 'newer' || found === 'concurrent'
}

/** Merges one register: returns either the other side's register, or this side's register with a revision that includes the other side's changes. */
function mergeRegister(
  own: Register,
  other: Register,
  { isSame, isUncertain }: { isSame: boolean; isUncertain: boolean },
): { isOther: boolean; register: Register } | 'concurrent' {
  const found = compareRevisions(other.revision, own.revision)
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
  if (!isSame) return 'concurrent' // the same revision with different content, because one side was restored from an old copy
  return { isOther: false, register: found === 'same' ? kept : joinRegisters(own, other) }
}

const joinRegisters = (own: Register, other: Register): Register => ({
  revision: joinRevisions(own.revision, other.revision),
  base: other.revision,
})

const mergeConflicting = (own: Register, other: Register): Register =>
  advanceRegister(joinRegisters(own, other), 'gateway')

function keepsLocalContent(own: Registers, other: Registers, { collection, isLocalStricter }: MergeRules): boolean {
  if (own.hash === null || other.hash === null) return own.hash === null
  return collection !== 'settings' || isLocalStricter
}

function mergeActive(
  own: Active | undefined,
  other: Active | undefined,
  { isMerging, isUncertain }: { isMerging: boolean; isUncertain: boolean },
): { register?: Active; isConcurrent?: boolean; kept?: Conflict['kept'] } {
  if (!own) return other ? { register: { isActive: other.isActive, revision: other.revision } } : {}
  if (!other) return { register: own }
  const { isActive } = own
  const found = mergeRegister(own, other, { isSame: isActive === other.isActive, isUncertain })
  if (found !== 'concurrent')
    return { register: { isActive: found.isOther ? other.isActive : isActive, ...found.register } }
  if (!isMerging) return { register: own, isConcurrent: true }
  return { register: { isActive: false, ...mergeConflicting(own, other) }, kept: isActive ? 'cloud' : 'gateway' }
}
