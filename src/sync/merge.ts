import type { Collection, Revision } from './protocol.ts'
import type { Conflict, Side } from './types.ts'

/*
 * How two states of a record compare, and what becomes of two that did not see each other. A state has two registers, each with a revision of its
 * own: its content, and of keys and connections whether they are active.
 */

/** What a side knows of a record without its content. */
export interface Registers {
  /** Of the content, by the side's own vault; `null` when there is none, as after a deletion. */
  hash: string | null
  revision: Revision
  /** The last known one after a deletion. */
  active?: Active
}

export interface Active {
  isActive: boolean
  revision: Revision
}

/** Of a record that neither side has changed. */
export const NEVER: Revision = [0, 0]

/** How one revision stands to another. */
export function relation(one: Revision, other: Revision): 'same' | 'newer' | 'older' | 'concurrent' {
  const isAtLeast = one[0] >= other[0] && one[1] >= other[1]
  const isAtMost = one[0] <= other[0] && one[1] <= other[1]
  if (isAtLeast) return isAtMost ? 'same' : 'newer'
  return isAtMost ? 'older' : 'concurrent'
}

/** That of a side's change. */
export const changed = ([home, cloud]: Revision, side: Side): Revision =>
  side === 'home' ? [home + 1, cloud] : [home, cloud + 1]

/** That of two states with the same content. */
export const joined = (one: Revision, other: Revision): Revision => [
  Math.max(one[0], other[0]),
  Math.max(one[1], other[1]),
]

/** That of a merge, which home makes: newer than both. */
const merged = (one: Revision, other: Revision): Revision => changed(joined(one, other), 'home')

/** Do both say the same in the same revision? */
export const isSameRegisters = (one: Registers, other: Registers): boolean =>
  one.hash === other.hash &&
  relation(one.revision, other.revision) === 'same' &&
  (one.hash === null || (one.active === undefined) === (other.active === undefined)) &&
  (!one.active || !other.active || isSameActive(one.active, other.active))

const isSameActive = (one: Active, other: Active) =>
  one.isActive === other.isActive && relation(one.revision, other.revision) === 'same'

/** What becomes of the state of one side when one of the other comes. */
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
 * over a change, requiring keys over not requiring them, paused over active, and otherwise home's change. `isUncertain`: this side's content may be
 * newer than its revision says, since an old copy of its storage was put back before it was made.
 */
export function settled(
  own: Registers,
  other: Registers,
  { merge, isUncertain = false }: { merge?: Merge | undefined; isUncertain?: boolean } = {},
): Settlement {
  const kept = new Set<Conflict['kept']>()
  let isConcurrent = false
  const registers: Registers = { hash: own.hash, revision: own.revision, ...(own.active && { active: own.active }) } // no more of a shadow
  let content: Settlement['content'] = 'own'

  const isBehind = isUncertain && other.revision[0] > own.revision[0]
  const standing = standingOf(relation(other.revision, own.revision), { isSame: own.hash === other.hash, isBehind })
  if (standing === 'newer') {
    registers.hash = other.hash
    registers.revision = other.revision
    content = 'other'
  } else if (standing === 'joined') registers.revision = joined(own.revision, other.revision)
  else if (standing === 'concurrent') {
    if (!merge) isConcurrent = true
    else {
      const isOwn = isOwnContent(own, other, merge)
      if (!isOwn) content = 'other'
      registers.hash = isOwn ? own.hash : other.hash
      registers.revision = merged(own.revision, other.revision)
      kept.add(isOwn ? 'home' : 'cloud')
    }
  }

  const active = settledActive(own.active, other.active, { isMerging: merge !== undefined, isUncertain })
  if (active.register) registers.active = active.register
  if (active.isConcurrent) isConcurrent = true
  if (active.kept && registers.hash !== null) kept.add(active.kept)
  if (registers.hash === null && own.hash !== other.hash && hasUnseenActive(own, other)) {
    if (merge) kept.add(own.hash === null ? 'home' : 'cloud')
    else return { registers: own, content: 'own', isConcurrent: true, kept: [] } // home reports it, and then deletes the record again
  }
  return { registers, content, isConcurrent, kept: [...kept] }
}

/** Was the record paused or resumed where it is there, unseen by the side that has deleted it? */
function hasUnseenActive(one: Registers, other: Registers): boolean {
  const [deleted, kept] = one.hash === null ? [one.active, other.active] : [other.active, one.active]
  if (!deleted || !kept || deleted.isActive === kept.isActive) return false
  const found = relation(kept.revision, deleted.revision)
  return found === 'newer' || found === 'concurrent'
}

type Standing = 'newer' | 'joined' | 'concurrent' | 'older'

/** How the other register stands to the own one, given whether both say the same. */
function standingOf(
  one: ReturnType<typeof relation>,
  { isSame, isBehind }: { isSame: boolean; isBehind: boolean },
): Standing {
  if (one === 'same') return isSame ? 'older' : 'concurrent' // of two histories, one of which an old copy has ended
  if (one === 'concurrent') return isSame ? 'joined' : 'concurrent'
  return one === 'newer' && isBehind && !isSame ? 'concurrent' : one
}

function isOwnContent(own: Registers, other: Registers, { collection, isOwnStricter }: Merge): boolean {
  if (own.hash === null || other.hash === null) return own.hash === null
  return collection !== 'settings' || isOwnStricter
}

function settledActive(
  own: Active | undefined,
  other: Active | undefined,
  { isMerging, isUncertain }: { isMerging: boolean; isUncertain: boolean },
): { register?: Active; isConcurrent?: boolean; kept?: Conflict['kept'] } {
  if (!other) return {}
  if (!own) return { register: other }
  const isSame = own.isActive === other.isActive
  const isBehind = isUncertain && other.revision[0] > own.revision[0]
  const standing = standingOf(relation(other.revision, own.revision), { isSame, isBehind })
  if (standing === 'newer') return { register: other }
  if (standing === 'joined')
    return { register: { isActive: own.isActive, revision: joined(own.revision, other.revision) } }
  if (standing === 'older') return {}
  if (!isMerging) return { isConcurrent: true }
  return {
    register: { isActive: false, revision: merged(own.revision, other.revision) },
    kept: own.isActive ? 'cloud' : 'home',
  }
}
