import { trimTrailing } from './urls.ts'

/** Nano-dollars per US dollar. Sums of whole nano-dollars are exact. */
export const NANO_PER_USD = 1e9

/** Rounds USD to whole nano-dollars. Limits round up (`limits/amounts.ts`). */
export const toNanoUsd = (usd: number): number => Math.round(usd * NANO_PER_USD)

export const fromNanoUsd = (nanoUsd: number): number => nanoUsd / NANO_PER_USD

/** Formats USD in decimal notation, to a trillionth of a dollar, or with fewer digits if the number isn't that precise. */
export const formatPlainUsd = (usd: number): string =>
  trimTrailing(trimTrailing(usd.toFixed(usd < 1_000 ? 12 : 6), '0'), '.')
