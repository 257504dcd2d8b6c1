import type { AnswerCondition } from '../types.ts'
import type { Group, GroupChoice, GroupEntry, GroupOrder, Resolution, Route, RouteTarget } from './group.ts'
import type { GroupReach, Select } from './select.ts'

/** The most combos that are followed for one request, as they may be nested. */
const MAX_COMBOS = 1_000

/** A group that is being followed. */
interface Stage {
  group: Group
  order: GroupOrder
  before: GroupChoice | undefined
  /** How many of its entries have been followed. */
  followed: number
}

/** How groups choose, and how the names of their entries are resolved. */
export interface FollowDependencies {
  select: Select
  groupReach: GroupReach
  resolutionOf(entry: GroupEntry, within: Group): Resolution
  /** Called with each entry whose name leads to no target, when its turn comes. */
  onDeadEnd?: OnDeadEnd | undefined
}

/** Called with an entry and the group it is in. */
export type OnDeadEnd = (entry: GroupEntry, way: Pick<GroupChoice, 'group' | 'before'>) => void

/**
 * The routes of a group, entry by entry, following combos within combos; each route is computed when it is pulled. Each combo is followed
 * only once in a request, however often it is named, so that a cycle ends.
 */
export async function* follow(
  outermost: Group,
  { select, groupReach, resolutionOf, onDeadEnd }: FollowDependencies,
): AsyncGenerator<Route, undefined> {
  const seen = new Set<Group>()
  const stages: Stage[] = []

  async function enter(group: Group, before?: GroupChoice): Promise<void> {
    if (seen.has(group) || seen.size >= MAX_COMBOS) return
    seen.add(group)
    stages.push({ group, order: await select(group, groupReach, before), before, followed: 0 })
  }

  await enter(outermost)
  for (let stage = stages.at(-1); stage; stage = stages.at(-1)) {
    const { group, order, before } = stage
    const entry = order.entries[stage.followed++]
    if (!entry) {
      stages.pop()
      continue
    }
    const via: GroupChoice = { group, order, entry, before }
    const resolution = resolutionOf(entry, decidingGroup(group, before))
    if (!resolution) onDeadEnd?.(entry, via)
    else if ('strategy' in resolution) await enter(resolution, via)
    else {
      const on = conditionsOf(via)
      for (const { target } of resolution) yield { target: underEntries(target, via), via, ...(on && { on }) }
    }
  }
}

/** The conditions (`on`) of all groups on the way to a target; `undefined` if none has any. */
function conditionsOf(via: GroupChoice): Route['on'] {
  const found = new Set<AnswerCondition>()
  for (let choice: GroupChoice | undefined = via; choice; choice = choice.before)
    for (const condition of choice.group.on ?? []) found.add(condition)
  return found.size > 0 ? [...found] : undefined
}

/**
 * The target with the voices and parameters that entries on the way set: the voices of the innermost entry that has some, and for each parameter the
 * innermost value.
 */
function underEntries(target: RouteTarget, via: GroupChoice): RouteTarget {
  let voices: GroupEntry['voices']
  let params: GroupEntry['params']
  for (let choice: GroupChoice | undefined = via; choice; choice = choice.before) {
    voices ??= choice.entry.voices
    const outer = choice.entry.params
    params = outer && params ? { ...outer, ...params } : (params ?? outer)
  }
  return voices || params ? { ...target, ...(voices && { voices }), ...(params && { params }) } : target
}

/** The group that decides how connections are chosen: the innermost that has a strategy for them. */
function decidingGroup(group: Group, before: GroupChoice | undefined): Group {
  if (group.connectionStrategy) return group
  for (let outer = before; outer; outer = outer.before) if (outer.group.connectionStrategy) return outer.group
  return group
}
