import { least } from './least.ts'
import type { Order } from './order.ts'

/** Cheapest first, equals as listed; entries of unknown price last. */
export const leastCost: Order = (entries, { costOf }) => least(entries, costOf)
