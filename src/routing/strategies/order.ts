import type { Entry } from '../group.ts'

/** What strategies choose by. */
export interface Inputs {
  /** A random number in [0, 1). */
  random(): number
  /** The index of the entry whose turn it is. */
  turn: number
  /** The group's label, so that a session has another home in each group. */
  label: string
  /** The session of the request; may be empty. */
  session: string
  /** The entry that the session was moved to, by name. */
  pin: string | undefined
  /** Input plus output in US dollars per million tokens; `undefined` when a price is not known. */
  costOf(entry: Entry): number | undefined
  /** A recent average in ms; `undefined` before the first answer. */
  latencyOf(entry: Entry): number | undefined
  /** The number of requests under way. */
  loadOf(entry: Entry): number
}

/** Returns all entries in the order in which to try them; the list itself is not changed. */
export type Order = (entries: readonly Entry[], inputs: Inputs) => readonly Entry[]
