import type { Strategy } from '../../types.ts'
import { conditional } from './conditional.ts'
import { fallback } from './fallback.ts'
import { leastBusy } from './least-busy.ts'
import { leastCost } from './least-cost.ts'
import { leastLatency } from './least-latency.ts'
import type { Order } from './order.ts'
import { random } from './random.ts'
import { roundRobin } from './round-robin.ts'
import { sticky } from './sticky.ts'
import { weighted } from './weighted.ts'

/** The order of each strategy. */
export const strategies: Readonly<Record<Strategy, Order>> = {
  fallback,
  'round-robin': roundRobin,
  weighted,
  random,
  'least-latency': leastLatency,
  'least-cost': leastCost,
  'least-busy': leastBusy,
  sticky,
  conditional,
}

/** The order of a strategy; as listed for one that only a later version knows. */
export const orderOf = (strategy: Strategy): Order => strategies[strategy] ?? fallback
