import { least } from './least.ts'
import type { Order } from './order.ts'

/** The fraction of requests that try another entry first, which may have become faster. */
const EXPLORED = 0.05

/** Fastest first, equals as listed; entries that were never measured before all others. */
export const leastLatency: Order = (entries, { latencyOf, random }) => {
  const ordered = least(entries, (entry) => latencyOf(entry) ?? -1)
  if (ordered.length < 2 || random() >= EXPLORED) return ordered
  const [other] = ordered.splice(1 + Math.floor(random() * (ordered.length - 1)), 1)
  return other ? [other, ...ordered] : ordered
}
