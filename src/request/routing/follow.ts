import type { ResponseCondition } from '../../types.ts'
import type { Group, GroupChoice, GroupEntry, GroupOrder, Resolution, Route, RouteTarget } from './group.ts'
import type { GroupReach, Select } from './select.ts'

/** Maximum number of combos to follow for one request, because combos can be nested. */
const MAX_COMBOS = 1_000

interface EnteredGroup {
  group: Group
  order: GroupOrder
  before: GroupChoice | undefined
  /** The number of entries that have been followed so far. */
  followed: number
}

/** The selection within groups, and how to resolve their entries. */
export interface FollowDependencies {
  select: Select
  groupReach: GroupReach
  resolveEntry(entry: GroupEntry, parent: Group): Resolution
  /** Called with each entry that the selection skips. */
  onExcluded?: EntryListener | undefined
  /** Called when an entry's turn comes, but its name has no target. */
  onUnresolved?: EntryListener | undefined
  /** Called at the end if there were no routes. If it rejects, the walk ends with its error. */
  onEmpty?: (() => Promise<void>) | undefined
}

/** Called with an entry, its group, and the path to the group. */
export type EntryListener = (entry: GroupEntry, way: Pick<GroupChoice, 'group' | 'before'>) => void

/**
 * Returns a group's routes, entry by entry, following nested combos. Each route is computed when it is pulled. A combo is followed only once per
 * request, so cycles end. This is a class and not an async generator, because every request to a combo runs it and V8 never optimizes generators.
 */
export function walkRoutes(
  outermost: Group,
  dependencies: FollowDependencies,
): AsyncIterableIterator<Route, undefined> {
  return new RouteWalk(outermost, dependencies)
}

class RouteWalk implements AsyncIterableIterator<Route, undefined> {
  readonly #dependencies: FollowDependencies
  readonly #seen = new Set<Group>()
  readonly #stages: EnteredGroup[] = []
  /** The group to enter next, and how it was reached. */
  #group: Group | undefined
  #before: GroupChoice | undefined = undefined
  /** The latest entry's routes, and how many of them have been pulled. */
  #routes: readonly Route[] = []
  #pulledCount = 0
  #via: GroupChoice | undefined = undefined
  #isEmpty = true
  /** The choice that a call to `next` is waiting for. */
  #selecting: Promise<GroupOrder> | undefined = undefined

  constructor(outermost: Group, dependencies: FollowDependencies) {
    this.#group = outermost
    this.#dependencies = dependencies
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Route, undefined>> {
    const { select, groupReach, resolveEntry, onUnresolved, onEmpty } = this.#dependencies
    while (this.#selecting) await this.#selecting.catch(() => {}) // a hedge may still be choosing its target
    for (;;) {
      const route = this.#routes[this.#pulledCount++]
      if (route && this.#via) {
        this.#isEmpty = false
        return { value: createRoute(route, this.#via), done: false }
      }
      if (this.#group) {
        const group = this.#group
        this.#group = undefined
        if (!this.#seen.has(group) && this.#seen.size < MAX_COMBOS) {
          this.#seen.add(group)
          this.#selecting = select(group, groupReach, this.#before)
          try {
            this.#enterGroup(group, await this.#selecting)
          } finally {
            this.#selecting = undefined
          }
        }
      }
      const stage = this.#stages.at(-1)
      if (!stage) {
        if (this.#isEmpty) await onEmpty?.()
        return { value: undefined, done: true }
      }
      const entry = stage.order.entries[stage.followed++]
      if (!entry) {
        this.#stages.pop()
        continue
      }
      const { group, order, before } = stage
      const via: GroupChoice = { group, order, entry, before }
      const resolution = resolveEntry(entry, findDecidingGroup(group, before))
      if (!resolution) onUnresolved?.(entry, via)
      else if ('strategy' in resolution) {
        this.#group = resolution
        this.#before = via
      } else {
        this.#routes = resolution
        this.#pulledCount = 0
        this.#via = via
      }
    }
  }

  #enterGroup(group: Group, order: GroupOrder): void {
    const { onExcluded } = this.#dependencies
    const previous = this.#before
    if (onExcluded && order.entries.length < group.entries.length)
      for (const entry of group.entries)
        if (!order.entries.includes(entry)) onExcluded(entry, { group, before: previous })
    this.#stages.push({ group, order, before: previous, followed: 0 })
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
  let found: Set<ResponseCondition> | undefined
  for (let choice: GroupChoice | undefined = via; choice; choice = choice.before)
    for (const condition of choice.group.on ?? []) found = (found ?? new Set()).add(condition)
  return found && [...found]
}

/** Applies the settings of the entries on the path. For each parameter, the innermost entry that sets it wins. */
function applyEntries(target: RouteTarget, via: GroupChoice): RouteTarget {
  let voices: GroupEntry['voices']
  let params: GroupEntry['params']
  let promptCaching: GroupEntry['promptCaching']
  for (let choice: GroupChoice | undefined = via; choice; choice = choice.before) {
    voices ??= choice.entry.voices
    promptCaching ??= choice.entry.promptCaching
    const outer = choice.entry.params
    params = outer && params ? { ...outer, ...params } : (params ?? outer)
  }
  if (!voices && !params && !promptCaching) return target
  return { ...target, ...(voices && { voices }), ...(params && { params }), ...(promptCaching && { promptCaching }) }
}

/** Finds the group that determines how connections are chosen: the innermost one with a strategy for them. */
function findDecidingGroup(group: Group, previous: GroupChoice | undefined): Group {
  if (group.connectionStrategy) return group
  for (let outer = previous; outer; outer = outer.before) if (outer.group.connectionStrategy) return outer.group
  return group
}
