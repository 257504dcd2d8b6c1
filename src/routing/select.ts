import type { Awaitable } from '../lib/awaitable.ts'
import type { Firsts } from './firsts.ts'
import type { Choice, Chosen, Entry, Group, RouteTarget } from './group.ts'

/** Look-ups about the entries of a group. */
export interface Lookahead extends Firsts {
  /** The targets that the entry can lead to, as far as they are found within a hundred steps. */
  reach(entry: Entry): Iterable<RouteTarget>
}

/** Orders the entries of a group for one request; `before` is the way to the group. */
export type Select = (group: Group, lookahead: Lookahead, before?: Choice) => Awaitable<Chosen>
