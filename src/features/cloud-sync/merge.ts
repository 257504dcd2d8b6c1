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
  /** Whose content to keep; `local` if both are equal. */
  content: 'local' | 'remote'
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
  remote: Registers,
  { merge, isUncertain = false }: { merge?: MergeRules | undefined; isUncertain?: boolean } = {},
): MergeResult {
  const keptSides = new Set<Conflict['kept']>()
  let isConcurrent = false
  const local = { hash, revision, ...(base && { base }), ...(localActive && { active: localActive }) } // omits the shadow's other fields
  let mergedContent: { hash: string | null; register: Register } = {
    hash,
    register: { revision, ...(base && { base }) },
  }
  let content: MergeResult['content'] = 'local'

  const mergeOutcome = mergeRegister(local, remote, { hasSameValue: hash === remote.hash, isUncertain })
  if (mergeOutcome !== 'concurrent') {
    if (mergeOutcome.isFromRemote) content = 'remote'
    mergedContent = { hash: mergeOutcome.isFromRemote ? remote.hash : hash, register: mergeOutcome.register }
  } else if (!merge) isConcurrent = true
  else {
    const keepsLocal = keepsLocalContent(local, remote, merge)
    if (!keepsLocal) content = 'remote'
    mergedContent = { hash: keepsLocal ? hash : remote.hash, register: mergeConflicting(local, remote) }
    keptSides.add(keepsLocal ? 'gateway' : 'cloud')
  }

  const activeOutcome = mergeActive(localActive, remote.active, { isMerging: merge !== undefined, isUncertain })
  if (activeOutcome.isConcurrent) isConcurrent = true
  if (activeOutcome.kept && mergedContent.hash !== null) keptSides.add(activeOutcome.kept)
  if (mergedContent.hash === null && hash !== remote.hash && hasUnseenActive(local, remote)) {
    if (merge) keptSides.add(hash === null ? 'gateway' : 'cloud')
    else return { registers: local, content: 'local', isConcurrent: true, kept: [] } // the gateway reports the conflict, then deletes the record again
  }
  const registers = {
    hash: mergedContent.hash,
    ...mergedContent.register,
    ...(activeOutcome.register && { active: activeOutcome.register }),
  }
  return { registers, content, isConcurrent, kept: [...keptSides] }
}

function hasUnseenActive(a: Registers, b: Registers): boolean {
  const [deleted, surviving] = a.hash === null ? [a.active, b.active] : [b.active, a.active]
  if (!deleted || !surviving || deleted.isActive === surviving.isActive) return false
  const order = compareRevisions(surviving.revision, deleted.revision)
  return order === 'newer' || order === 'concurrent'
}

/** Merges one register. Returns either the other side's register, or this side's with a revision that includes the other side's changes. */
function mergeRegister(
  local: Register,
  remote: Register,
  { hasSameValue, isUncertain }: { hasSameValue: boolean; isUncertain: boolean },
): { isFromRemote: boolean; register: Register } | 'concurrent' {
  const order = compareRevisions(remote.revision, local.revision)
  const { revision, base } = local
  const mergedRegister = { revision, ...(base && { base: isAtMost(remote.revision, base) ? base : remote.revision }) }
  if (order === 'newer') {
    if (!hasSameValue && remote.base && !isAtMost(revision, remote.base)) return 'concurrent'
    return { isFromRemote: true, register: { revision: remote.revision } }
  }
  if (order === 'older') {
    const hasSeen = hasSameValue || !isUncertain || !base || isAtMost(remote.revision, base)
    return hasSeen ? { isFromRemote: false, register: mergedRegister } : 'concurrent'
  }
  if (!hasSameValue) return 'concurrent' // the same revision with different content, because one side was restored from an old copy
  return { isFromRemote: false, register: order === 'same' ? mergedRegister : joinRegisters(local, remote) }
}

const joinRegisters = (local: Register, remote: Register): Register => ({
  revision: joinRevisions(local.revision, remote.revision),
  base: remote.revision,
})

const mergeConflicting = (local: Register, remote: Register): Register =>
  advanceRegister(joinRegisters(local, remote), 'gateway')

function keepsLocalContent(local: Registers, remote: Registers, { collection, isLocalStricter }: MergeRules): boolean {
  if (local.hash === null || remote.hash === null) return local.hash === null
  return collection !== 'settings' || isLocalStricter
}

function mergeActive(
  local: Active | undefined,
  remote: Active | undefined,
  { isMerging, isUncertain }: { isMerging: boolean; isUncertain: boolean },
): { register?: Active; isConcurrent?: boolean; kept?: Conflict['kept'] } {
  if (!local) return remote ? { register: { isActive: remote.isActive, revision: remote.revision } } : {}
  if (!remote) return { register: local }
  const { isActive } = local
  const mergeOutcome = mergeRegister(local, remote, { hasSameValue: isActive === remote.isActive, isUncertain })
  if (mergeOutcome !== 'concurrent')
    return { register: { isActive: mergeOutcome.isFromRemote ? remote.isActive : isActive, ...mergeOutcome.register } }
  if (!isMerging) return { register: local, isConcurrent: true }
  return { register: { isActive: false, ...mergeConflicting(local, remote) }, kept: isActive ? 'cloud' : 'gateway' }
}
