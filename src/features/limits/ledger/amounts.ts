import { NANO_PER_USD } from '../../../lib/usd.ts'

/** The amounts that a request may use or has used. Absent amounts count as 0. */
export interface Amounts {
  requests?: number
  /** In-flight requests. */
  parallel?: number
  tokens?: number
  /** US dollars. */
  usd?: number
}

/** Amounts as integers, so sums are exact. US dollars are in nano-dollars. */
export interface IntegerAmounts {
  requests: number
  parallel: number
  tokens: number
  usd: number
}

export const NO_AMOUNTS: IntegerAmounts = Object.freeze({ requests: 0, parallel: 0, tokens: 0, usd: 0 })

/** The largest count. Larger values are capped. */
const MAX_COUNT = Number.MAX_SAFE_INTEGER
/** A floating-point product this close to an integer is rounded to that integer. */
const ROUNDING_TOLERANCE = 1e-12

/** Rounds up to an integer from 0 to the largest safe integer. Returns `fallback` for NaN. */
export function roundUp(value: number, fallback = MAX_COUNT): number {
  if (Number.isNaN(value)) return fallback
  const nearest = Math.round(value)
  const rounded = Math.abs(value - nearest) <= Math.abs(nearest) * ROUNDING_TOLERANCE ? nearest : Math.ceil(value)
  return Math.min(MAX_COUNT, Math.max(0, rounded))
}

/** Converts US dollars to nano-dollars, rounded up. */
export const toNano = (usd: number, fallback?: number): number => roundUp(usd * NANO_PER_USD, fallback)

/** Adds two counts, capped at the largest safe integer. */
export const addClamped = (a: number, b: number): number => Math.min(MAX_COUNT, a + b)

/** Subtracts a count without going below 0. */
export const subtractClamped = (a: number, b: number): number => Math.max(0, a - b)

/** Converts amounts to integers, rounded up. Replaces NaN with the amount in `fallback` or, by default, with more than any limit allows. */
export function toIntegerAmounts(
  { requests = 0, parallel = 0, tokens = 0, usd = 0 }: Amounts,
  fallback?: IntegerAmounts,
): IntegerAmounts {
  return {
    requests: roundUp(requests, fallback?.requests),
    parallel: roundUp(parallel, fallback?.parallel),
    tokens: roundUp(tokens, fallback?.tokens),
    usd: toNano(usd, fallback?.usd),
  }
}

/** The output to reserve: as many tokens as the limits allow. */
export interface RequestedOutput {
  /** The maximum that the request can use. */
  tokens: number
  /** The minimum; if fewer fit, the request is rejected. */
  minTokens: number
  /** The price per token, in US dollars. */
  usdPerToken: number
}

/** Adds this many output tokens to `fixed`. */
export function addOutput(fixed: IntegerAmounts, output: RequestedOutput | undefined, tokens: number): IntegerAmounts {
  if (!output) return fixed
  return {
    ...fixed,
    tokens: addClamped(fixed.tokens, tokens),
    usd: addClamped(fixed.usd, toNano(tokens * output.usdPerToken)),
  }
}
