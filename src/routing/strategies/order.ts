import type { Entry } from '../group.ts'

/** What a strategy may ask for. */
export interface Inputs {
  /** Another number in [0, 1) with each call. */
  random(): number
  /** The index of the entry whose turn it is. */
  turn: number
  /** Names the group: the same session is at home elsewhere in another one. */
  label: string
  /** What the requests of one conversation have in common; may be empty. */
  session: string
  /** The name of the entry to which the session was moved. */
  pin: string | undefined
  /** Input plus output in US dollars per million tokens; `undefined` when a price is not known. */
  costOf(entry: Entry): number | undefined
  /** In ms, as it has been lately; `undefined` before there was an answer. */
  latencyOf(entry: Entry): number | undefined
  /** Requests under way. */
  loadOf(entry: Entry): number
}

/** Puts entries in the order in which to try them: all of them, each once, the list itself untouched. */
export type Order = (entries: readonly Entry[], inputs: Inputs) => readonly Entry[]
