/** Scans strings sequentially, which is much cheaper than checking parts. */
export interface TextScreen {
  /** Scans a string, starting in `state`, and returns the next state: a number of at least 0, `UNCLEAR`, or `FOUND`. */
  scan(text: string, state: number): number
}

/** The state after a string that needs a check. */
export const FOUND = -1

/** The state after a string that needs a check only if another string continues it. */
export const UNCLEAR = -2
