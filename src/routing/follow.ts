import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { Meaning } from './firsts.ts'
import type { Choice, Chosen, Entry, Group, Route } from './group.ts'
import type { Lookahead, Select } from './select.ts'

/** The next route of a model name, computed on demand; `undefined` when there are no more. */
export type NextRoute = () => Awaitable<Route | undefined>

/** The most combos that are followed for one request, as they may be nested. */
const MAX_COMBOS = 1_000

/** A group that is being followed. */
interface Stage {
  group: Group
  chosen: Chosen
  before: Choice | undefined
  /** How many of its entries have been followed. */
  followed: number
}

/** How groups choose, and what the names of their entries mean. */
export interface FollowDependencies {
  select: Select
  lookahead: Lookahead
  meaningOf(entry: Entry, within: Group): Meaning
  /** Called with each entry whose name leads nowhere, when its turn comes. */
  onDeadEnd?: OnDeadEnd | undefined
}

/** Called with an entry and the group it is in. */
export type OnDeadEnd = (entry: Entry, way: Pick<Choice, 'group' | 'before'>) => void

/**
 * The routes of a group, entry by entry, following combos within combos. A combo is followed once a request, however often it is named,
 * even in a cycle.
 */
export function follow(group: Group, { select, lookahead, meaningOf, onDeadEnd }: FollowDependencies): NextRoute {
  const seen = new Set<Group>()
  const stages: Stage[] = []
  let pending: Route[] = []
  let isEntered = false

  function enter(group: Group, before?: Choice): Awaitable<void> {
    if (seen.has(group) || seen.size >= MAX_COMBOS) return
    seen.add(group)
    const chosen = select(group, lookahead, before)
    if (isPromise(chosen))
      return chosen.then((known) => void stages.push({ group, chosen: known, before, followed: 0 }))
    stages.push({ group, chosen, before, followed: 0 })
  }

  /** Follows the next entry: its routes become pending, or it becomes a stage of its own. */
  function step(stage: Stage): Awaitable<void> {
    const { group, chosen, before } = stage
    const entry = chosen.entries[stage.followed++]
    if (!entry) return void stages.pop()
    const via: Choice = { group, chosen, entry, before }
    const meaning = meaningOf(entry, decidingGroup(group, before))
    if (meaning && 'strategy' in meaning) return enter(meaning, via)
    if (meaning) pending = meaning.map(({ target }) => ({ target, via })).reverse()
    else onDeadEnd?.(entry, via)
  }

  return function next(): Awaitable<Route | undefined> {
    while (pending.length === 0) {
      const stage = stages.at(-1)
      if (!stage && isEntered) return undefined
      isEntered = true
      const done = stage ? step(stage) : enter(group)
      if (isPromise(done)) return done.then(next)
    }
    return pending.pop()
  }
}

/** The group that decides how connections are chosen: the innermost that has a strategy for them. */
function decidingGroup(group: Group, before: Choice | undefined): Group {
  if (group.connectionStrategy) return group
  for (let outer = before; outer; outer = outer.before) if (outer.group.connectionStrategy) return outer.group
  return group
}
