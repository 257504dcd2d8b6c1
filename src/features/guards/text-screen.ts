/** Searches one string after another; much cheaper than a check of parts. */
export interface TextScreen {
  /** Returns the state after a string that continues from `state`: at least 0, `UNCLEAR`, or `FOUND`. */
  scan(text: string, state: number): number
}

/** The state after a string that needs a check. */
export const FOUND = -1

/** The state after a string that needs a check if another one continues it. */
export const UNCLEAR = -2
