import type { Strategy } from '../../types.ts'
import { fallback } from './fallback.ts'
import { leastCost } from './least-cost.ts'
import type { Order } from './order.ts'
import { random } from './random.ts'
import { roundRobin } from './round-robin.ts'
import { weighted } from './weighted.ts'

/** How each strategy orders a combo's entries. */
export const strategies: Readonly<Record<Strategy, Order>> = {
  fallback,
  'round-robin': roundRobin,
  weighted,
  random,
  'least-cost': leastCost,
}

/** As listed for a strategy that only a later version knows. */
export const orderOf = (strategy: Strategy): Order => strategies[strategy] ?? fallback
