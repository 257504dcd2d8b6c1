import type { Collection, Revision } from './protocol.ts'
import type { Conflict, Side } from './sync-types.ts'

/*
 * Compares two states of a record and merges concurrent ones. A state has two registers, each with its own revision: one for the content and, for
 * keys and connections, one for whether they are active.
 */

/** The version of one register. The revision contains the number of changes by each side. */
interface Register {
  revision: Revision
  /** The last revision that both sides had before this one. Default: this one. Needed only after a storage was restored from an old copy. */
  base?: Revision
}

/** A record's state without its content. */
export interface Registers extends Register {
  /** The hash of the content, computed with this side's keyring, or `null` if there is no content, such as after a deletion. */
  hash: string | null
  /** After a deletion, the last known value. */
  active?: Active
}

export interface Active extends Register {
  isActive: boolean
}

/** The revision of a record that neither side has changed. */
export const INITIAL_REVISION: Revision = [0, 0]

/** Compares two revisions. */
export function compareRevisions(a: Revision, b: Revision): 'same' | 'newer' | 'older' | 'concurrent' {
  const isOlder = isAtMost(a, b)
  if (isAtMost(b, a)) return isOlder ? 'same' : 'newer'
  return isOlder ? 'older' : 'concurrent'
}

const isAtMost = (a: Revision, b: Revision) => a[0] <= b[0] && a[1] <= b[1]

/** Returns the revision after a change by one side. `atLeast` is the minimum count, in case lower counts have already been used. */
export const advanceRevision = ([gateway, cloud]: Revision, side: Side, atLeast = 0): Revision =>
  side === 'gateway' ? [Math.max(gateway + 1, atLeast), cloud] : [gateway, Math.max(cloud + 1, atLeast)]

/** Returns the register after a change by one side. */
export const advanceRegister = ({ revision, base = revision }: Register, side: Side, atLeast?: number): Register => ({
  revision: advanceRevision(revision, side, atLeast),
  base,
})

/** Returns the revision that includes both revisions. */
export const joinRevisions = (a: Revision, b: Revision): Revision => [Math.max(a[0], b[0]), Math.max(a[1], b[1])]

/** Returns whether both have the same values at the same revisions. */
export const areSameRegisters = (a: Registers, b: Registers): boolean =>
  a.hash === b.hash &&
  compareRevisions(a.revision, b.revision) === 'same' &&
  (a.hash === null || (a.active === undefined) === (b.active === undefined)) &&
  (!a.active || !b.active || isSameActive(a.active, b.active))

const isSameActive = (a: Active, b: Active) =>
  a.isActive === b.isActive && compareRevisions(a.revision, b.revision) === 'same'

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
 * over not requiring them, and paused over active. Otherwise, the gateway's change wins. `isUncertain` means that this side may have been restored
 * from an old copy, so its state is only known to include its base.
 */
export function mergeRegisters(
  { hash, revision, base, active: localActive }: Registers,
  other: Registers,
  { merge, isUncertain = false }: { merge?: MergeRules | undefined; isUncertain?: boolean } = {},
): MergeResult {
  const sides = new Set<Conflict['kept']>()
  let isConcurrent = false
  const local = { hash, revision, ...(base && { base }), ...(localActive && { active: localActive }) } // omits the shadow's other fields
  let next: { hash: string | null; register: Register } = { hash, register: { revision, ...(base && { base }) } }
  let content: MergeResult['content'] = 'own'

  const merged = mergeRegister(local, other, { isSame: hash === other.hash, isUncertain })
  if (merged !== 'concurrent') {
    if (merged.isFromOther) content = 'other'
    next = { hash: merged.isFromOther ? other.hash : hash, register: merged.register }
  } else if (!merge) isConcurrent = true
  else {
    const isOwn = keepsLocalContent(local, other, merge)
    if (!isOwn) content = 'other'
    next = { hash: isOwn ? hash : other.hash, register: mergeConflicting(local, other) }
    sides.add(isOwn ? 'gateway' : 'cloud')
  }

  const active = mergeActive(localActive, other.active, { isMerging: merge !== undefined, isUncertain })
  if (active.isConcurrent) isConcurrent = true
  if (active.kept && next.hash !== null) sides.add(active.kept)
  if (next.hash === null && hash !== other.hash && hasUnseenActive(local, other)) {
    if (merge) sides.add(hash === null ? 'gateway' : 'cloud')
    else return { registers: local, content: 'own', isConcurrent: true, kept: [] } // the gateway reports the conflict, then deletes the record again
  }
  const registers = { hash: next.hash, ...next.register, ...(active.register && { active: active.register }) }
  return { registers, content, isConcurrent, kept: [...sides] }
}

function hasUnseenActive(a: Registers, b: Registers): boolean {
  const [deleted, surviving] = a.hash === null ? [a.active, b.active] : [b.active, a.active]
  if (!deleted || !surviving || deleted.isActive === surviving.isActive) return false
  const found = compareRevisions(surviving.revision, deleted.revision)
  return found === 'newer' || found === 'concurrent'
}

/** Merges one register. Returns either the other side's register, or this side's with a revision that includes the other side's changes. */
function mergeRegister(
  local: Register,
  other: Register,
  { isSame, isUncertain }: { isSame: boolean; isUncertain: boolean },
): { isFromOther: boolean; register: Register } | 'concurrent' {
  const found = compareRevisions(other.revision, local.revision)
  const { revision, base } = local
  const merged = { revision, ...(base && { base: isAtMost(other.revision, base) ? base : other.revision }) }
  if (found === 'newer') {
    if (!isSame && other.base && !isAtMost(revision, other.base)) return 'concurrent'
    return { isFromOther: true, register: { revision: other.revision } }
  }
  if (found === 'older') {
    const hasSeen = isSame || !isUncertain || !base || isAtMost(other.revision, base)
    return hasSeen ? { isFromOther: false, register: merged } : 'concurrent'
  }
  if (!isSame) return 'concurrent' // the same revision with different content, because one side was restored from an old copy
  return { isFromOther: false, register: found === 'same' ? merged : joinRegisters(local, other) }
}

const joinRegisters = (local: Register, other: Register): Register => ({
  revision: joinRevisions(local.revision, other.revision),
  base: other.revision,
})

const mergeConflicting = (local: Register, other: Register): Register =>
  advanceRegister(joinRegisters(local, other), 'gateway')

function keepsLocalContent(local: Registers, other: Registers, { collection, isLocalStricter }: MergeRules): boolean {
  if (local.hash === null || other.hash === null) return local.hash === null
  return collection !== 'settings' || isLocalStricter
}

function mergeActive(
  local: Active | undefined,
  other: Active | undefined,
  { isMerging, isUncertain }: { isMerging: boolean; isUncertain: boolean },
): { register?: Active; isConcurrent?: boolean; kept?: Conflict['kept'] } {
  if (!local) return other ? { register: { isActive: other.isActive, revision: other.revision } } : {}
  if (!other) return { register: local }
  const { isActive } = local
  const found = mergeRegister(local, other, { isSame: isActive === other.isActive, isUncertain })
  if (found !== 'concurrent')
    return { register: { isActive: found.isFromOther ? other.isActive : isActive, ...found.register } }
  if (!isMerging) return { register: local, isConcurrent: true }
  return { register: { isActive: false, ...mergeConflicting(local, other) }, kept: isActive ? 'cloud' : 'gateway' }
}
