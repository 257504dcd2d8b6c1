import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { Meaning } from './firsts.ts'
import type { Choice, Chosen, Entry, Group, Route } from './group.ts'
import type { Lookahead, Select } from './select.ts'

/** The next route of a model name, worked out when it is asked for; `undefined` when there are no more. */
export type NextRoute = () => Awaitable<Route | undefined>

/** So many combos are followed for one request at most: they may stand in each other. */
const MAX_COMBOS = 1_000

/** A group that the request has come to. */
interface Stage {
  group: Group
  chosen: Chosen
  before: Choice | undefined
  /** So many of its entries have been followed. */
  followed: number
}

/** Who chooses in a group, and what its entries stand for. */
export interface FollowDependencies {
  select: Select
  lookahead: Lookahead
  meaningOf(entry: Entry, within: Group): Meaning
  /** Hears of each entry whose name leads nowhere, when it comes to it. */
  onDeadEnd?: OnDeadEnd | undefined
}

/** `way`: where the entry stands. */
export type OnDeadEnd = (entry: Entry, way: Pick<Choice, 'group' | 'before'>) => void

/**
 * The routes of a group, entry by entry and combo within combo. What a combo leads to is tried once a request, however often and in
 * whatever circle it is named.
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

  /** One step further; what it leads to is pending then, or a stage of its own. */
  function step(stage: Stage): Awaitable<void> {
    const { group, chosen, before } = stage
    const entry = chosen.entries[stage.followed++]
    if (!entry) return void stages.pop()
    const via: Choice = { group, chosen, entry, before }
    const meaning = meaningOf(entry, group)
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
