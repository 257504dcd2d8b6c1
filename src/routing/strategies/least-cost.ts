import { least } from './least.ts'
import type { Order } from './order.ts'

/** The cheapest first, equals as listed. What has no known price is not free: it comes last, as listed. */
export const leastCost: Order = (entries, { costOf }) => least(entries, costOf)
