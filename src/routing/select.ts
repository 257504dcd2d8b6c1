import type { Group, GroupChoice, GroupEntry, GroupOrder, RouteTarget } from './group.ts'

/** The target that represents an entry when it is priced or measured. Takes no turn, and is not random. */
export interface Representatives {
  /** The first target of the entry; of a combo with a random or changing order, the first as listed. */
  representativeOf(entry: GroupEntry): RouteTarget | undefined
  /** Input plus output price of that target in US dollars per million tokens; `undefined` when one of them is unknown. */
  costOf(entry: GroupEntry): number | undefined
}

/** Look-ups about the entries of a group. */
export interface GroupReach extends Representatives {
  /** The targets that the entry can lead to, as far as they are found within a hundred steps. */
  reach(entry: GroupEntry): Iterable<RouteTarget>
}

/** Orders the entries of a group for one request; `before` is the way to the group. */
export type Select = (group: Group, groupReach: GroupReach, before?: GroupChoice) => Promise<GroupOrder>
