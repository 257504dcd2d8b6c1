import type { ComboModel } from '../../types.ts'

/** What a strategy may ask for; it takes no more of it than it needs. */
export interface Inputs {
  /** Another number in [0, 1) with each call. */
  random(): number
  /** The index at which the rotation stands; moves it on by one. */
  turn(): number
  /** Input plus output in US dollars per million tokens; `undefined` when a price is not known. */
  costOf(model: string): number | undefined
}

/** Puts a combo's entries in the order in which to try them: all of them, each once, the list itself untouched. */
export type Order = (entries: readonly ComboModel[], inputs: Inputs) => readonly ComboModel[]
