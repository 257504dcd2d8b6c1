import type { ResponseCondition } from '../../types.ts'
import type { Group, GroupChoice, GroupEntry, GroupOrder, Resolution, Route, RouteTarget } from './group.ts'
import type { EntryLookup, Select } from './select.ts'

/** Maximum number of combos to follow for one request, because combos can be nested. */
const MAX_COMBOS = 1_000

interface EnteredGroup {
  group: Group
  order: GroupOrder
  parent: GroupChoice | undefined
  /** The number of entries that have been followed so far. */
  followedCount: number
}

/** How a walk selects and resolves the entries of groups, and what it calls for them. */
export interface FollowDependencies {
  select: Select
  entryLookup: EntryLookup
  resolveEntry(entry: GroupEntry, parent: Group): Resolution
  /** Called with each entry that the selection skips. */
  onExcluded?: EntryListener | undefined
  /** Called when an entry's turn comes, but its name has no target. */
  onUnresolved?: EntryListener | undefined
  /** Called at the end if there were no routes. If it rejects, the walk ends with its error. */
  onEmpty?: (() => Promise<void>) | undefined
}

/** Called with an entry, its group, and the path to the group. */
export type EntryListener = (entry: GroupEntry, choice: Pick<GroupChoice, 'group' | 'parent'>) => void

/**
 * Returns a group's routes, entry by entry, following nested combos. Each route is computed when it is pulled. A combo is followed only once per
 * request, so cycles end. This is a class and not an async generator, because every request to a combo runs it and V8 never optimizes generators.
 */
export function walkRoutes(
  outermostGroup: Group,
  dependencies: FollowDependencies,
): AsyncIterableIterator<Route, undefined> {
  return new RouteWalk(outermostGroup, dependencies)
}

class RouteWalk implements AsyncIterableIterator<Route, undefined> {
  readonly #dependencies: FollowDependencies
  readonly #visitedGroups = new Set<Group>()
  readonly #enteredGroups: EnteredGroup[] = []
  /** The group to enter next, and how it was reached. */
  #group: Group | undefined
  #parentChoice: GroupChoice | undefined = undefined
  /** The latest entry's routes, and how many of them have been pulled. */
  #routes: readonly Route[] = []
  #pulledCount = 0
  #via: GroupChoice | undefined = undefined
  #isEmpty = true
  /** The choice that a call to `next` is waiting for. */
  #pendingOrder: Promise<GroupOrder> | undefined = undefined

  constructor(outermostGroup: Group, dependencies: FollowDependencies) {
    this.#group = outermostGroup
    this.#dependencies = dependencies
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Route, undefined>> {
    const { select, entryLookup, resolveEntry, onUnresolved, onEmpty } = this.#dependencies
    while (this.#pendingOrder) await this.#pendingOrder.catch(() => {}) // a hedge may still be choosing its target
    for (;;) {
      const route = this.#routes[this.#pulledCount++]
      if (route && this.#via) {
        this.#isEmpty = false
        return { value: createRoute(route, this.#via), done: false }
      }
      if (this.#group) {
        const group = this.#group
        this.#group = undefined
        if (!this.#visitedGroups.has(group) && this.#visitedGroups.size < MAX_COMBOS) {
          this.#visitedGroups.add(group)
          this.#pendingOrder = select(group, entryLookup, this.#parentChoice)
          try {
            this.#enterGroup(group, await this.#pendingOrder)
          } finally {
            this.#pendingOrder = undefined
          }
        }
      }
      const enteredGroup = this.#enteredGroups.at(-1)
      if (!enteredGroup) {
        if (this.#isEmpty) await onEmpty?.()
        return { value: undefined, done: true }
      }
      const entry = enteredGroup.order.entries[enteredGroup.followedCount++]
      if (!entry) {
        this.#enteredGroups.pop()
        continue
      }
      const { group, order, parent } = enteredGroup
      const via: GroupChoice = { group, order, entry, parent }
      const resolution = resolveEntry(entry, findDecidingGroup(group, parent))
      if (!resolution) onUnresolved?.(entry, via)
      else if ('strategy' in resolution) {
        this.#group = resolution
        this.#parentChoice = via
      } else {
        this.#routes = resolution
        this.#pulledCount = 0
        this.#via = via
      }
    }
  }

  #enterGroup(group: Group, order: GroupOrder): void {
    const { onExcluded } = this.#dependencies
    const parent = this.#parentChoice
    if (onExcluded && order.entries.length < group.entries.length)
      for (const entry of group.entries) if (!order.entries.includes(entry)) onExcluded(entry, { group, parent })
    this.#enteredGroups.push({ group, order, parent, followedCount: 0 })
  }
}

function createRoute({ target }: Route, via: GroupChoice): Route {
  const on = collectConditions(via)
  const route: Route = { target: applyEntries(target, via), via }
  if (on) route.on = on
  return route
}

/** Collects the conditions (`on`) of all groups on the path. Returns `undefined` if there are none. */
function collectConditions(via: GroupChoice): Route['on'] {
  let conditions: Set<ResponseCondition> | undefined
  for (let choice: GroupChoice | undefined = via; choice; choice = choice.parent)
    for (const condition of choice.group.on ?? []) conditions = (conditions ?? new Set()).add(condition)
  return conditions && [...conditions]
}

/** Applies the settings of the entries on the path. For each parameter, the innermost entry that sets it wins. */
function applyEntries(target: RouteTarget, via: GroupChoice): RouteTarget {
  let voices: GroupEntry['voices']
  let params: GroupEntry['params']
  let promptCaching: GroupEntry['promptCaching']
  for (let choice: GroupChoice | undefined = via; choice; choice = choice.parent) {
    voices ??= choice.entry.voices
    promptCaching ??= choice.entry.promptCaching
    const outerParams = choice.entry.params
    params = outerParams && params ? { ...outerParams, ...params } : (params ?? outerParams)
  }
  if (!voices && !params && !promptCaching) return target
  return { ...target, ...(voices && { voices }), ...(params && { params }), ...(promptCaching && { promptCaching }) }
}

/** Finds the group that determines how connections are chosen: the innermost one with a strategy for them. */
function findDecidingGroup(group: Group, parent: GroupChoice | undefined): Group {
  if (group.connectionStrategy) return group
  for (let choice = parent; choice; choice = choice.parent) if (choice.group.connectionStrategy) return choice.group
  return group
}
