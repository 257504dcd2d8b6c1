import { NANO } from '../../../lib/usd.ts'

/** What a request may use, or has used. Absent amounts are 0. */
export interface Amounts {
  requests?: number
  /** Requests under way. */
  parallel?: number
  tokens?: number
  /** US dollars. */
  usd?: number
}

/** Amounts as whole numbers, which add up exactly. USD are in nano-dollars. */
export interface WholeAmounts {
  requests: number
  parallel: number
  tokens: number
  usd: number
}

export const NOTHING: WholeAmounts = Object.freeze({ requests: 0, parallel: 0, tokens: 0, usd: 0 })

/** The largest count; anything more counts as this. */
const MOST = Number.MAX_SAFE_INTEGER
/** A floating-point product that is this close to a whole number is meant to be that number. */
const ROUNDING = 1e-12

/** Rounds up to a whole number from 0 to the largest safe integer. Anything that isn't a number becomes `otherwise`. */
export function roundUp(value: number, otherwise = MOST): number {
  if (Number.isNaN(value)) return otherwise
  const nearest = Math.round(value)
  const rounded = Math.abs(value - nearest) <= Math.abs(nearest) * ROUNDING ? nearest : Math.ceil(value)
  return Math.min(MOST, Math.max(0, rounded))
}

/** Converts US dollars to nano-dollars, rounded up. */
export const toNano = (usd: number, otherwise?: number): number => roundUp(usd * NANO, otherwise)

/** Adds, up to the largest safe integer. */
export const plus = (a: number, b: number): number => Math.min(MOST, a + b)

/** Subtracts, down to 0. */
export const minus = (a: number, b: number): number => Math.max(0, a - b)

/** Converts to whole numbers, rounded up. Anything that isn't a number becomes the amount in `otherwise`, by default more than any limit allows. */
export function toWholeAmounts(
  { requests = 0, parallel = 0, tokens = 0, usd = 0 }: Amounts,
  otherwise?: WholeAmounts,
): WholeAmounts {
  return {
    requests: roundUp(requests, otherwise?.requests),
    parallel: roundUp(parallel, otherwise?.parallel),
    tokens: roundUp(tokens, otherwise?.tokens),
    usd: toNano(usd, otherwise?.usd),
  }
}

/** How much output to reserve: as many tokens as fit. */
export interface WantedOutput {
  /** The most that can be used. */
  tokens: number
  /** With fewer, the request is rejected. */
  least: number
  /** The price per token, in US dollars. */
  usdPerToken: number
}

/** Adds this many output tokens to `fixed`. */
export function withOutput(fixed: WholeAmounts, output: WantedOutput | undefined, tokens: number): WholeAmounts {
  if (!output) return fixed
  return {
    ...fixed,
    tokens: plus(fixed.tokens, tokens),
    usd: plus(fixed.usd, toNano(tokens * output.usdPerToken)),
  }
}
