import { modelOf } from './entry.ts'
import type { Order } from './order.ts'

/** The cheapest first, equals as listed. What has no known price is not free: it comes last, as listed. */
export const leastCost: Order = (entries, { costOf }) =>
  entries
    .map((entry) => ({ entry, cost: costOf(modelOf(entry)) ?? Number.POSITIVE_INFINITY }))
    .sort((a, b) => Number(a.cost > b.cost) - Number(a.cost < b.cost))
    .map(({ entry }) => entry)
