import type { Group, GroupChoice, GroupEntry, GroupOrder, RouteTarget } from './group.ts'

/** Finds the target that represents an entry in prices and measurements. Deterministic; takes no turn. */
export interface Representatives {
  /** Returns the entry's first target. For a combo with a random or changing order, returns the first one listed. */
  getRepresentative(entry: GroupEntry): RouteTarget | undefined
  /** Returns the sum of that target's input and output prices in US dollars per million tokens, or `undefined` if either is unknown. */
  getCost(entry: GroupEntry): number | undefined
}

/** Lookups for a group's entries. */
export interface EntryLookup extends Representatives {
  /** Lists the targets that the entry can resolve to, if they are found within a hundred steps. */
  listTargets(entry: GroupEntry): Iterable<RouteTarget>
}

/** Orders a group's entries for one request. `previous` is the path to the group. */
export type Select = (group: Group, entryLookup: EntryLookup, previous?: GroupChoice) => Promise<GroupOrder>
