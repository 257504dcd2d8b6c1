import { withoutTrailing } from './urls.ts'

/** Nano-dollars in a US dollar: sums of whole nano-dollars are exact. */
export const NANO = 1e9

/** Rounds USD to whole nano-dollars. Limits round up (`limits/amounts.ts`). */
export const toNanoUsd = (usd: number): number => Math.round(usd * NANO)

export const fromNanoUsd = (nano: number): number => nano / NANO

/** Formats USD in decimal notation, to a trillionth, or with as many digits as are exact for its size. */
export const formatPlainUsd = (usd: number): string =>
  withoutTrailing(withoutTrailing(usd.toFixed(usd < 1_000 ? 12 : 6), '0'), '.')
