import type { Awaitable } from '../lib/awaitable.ts'
import type { Firsts } from './firsts.ts'
import type { Choice, Chosen, Entry, Group, RouteTarget } from './group.ts'

/** What may be asked about the entries of a group. */
export interface Lookahead extends Firsts {
  /** The targets that the entry can lead to, as far as they are found within a hundred steps. */
  reach(entry: Entry): Iterable<RouteTarget>
}

/** Puts a group's entries in order for one request that has come to it, `before` being the way there. */
export type Select = (group: Group, lookahead: Lookahead, before?: Choice) => Awaitable<Chosen>
