import { withoutTrailing } from '../lib/urls.ts'

/** An amount of US dollars in plain decimal notation, to a trillionth, or as far as a number of its size is exact. */
export const plainUsd = (usd: number): string =>
  withoutTrailing(withoutTrailing(usd.toFixed(usd < 1_000 ? 12 : 6), '0'), '.')
