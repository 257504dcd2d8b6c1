import { least } from './least.ts'
import type { Order } from './order.ts'

/** So many requests go to one of the others first, which may have become faster since. */
const EXPLORED = 0.05

/** The fastest first, equals as listed; those that were never measured come before all others. */
export const leastLatency: Order = (entries, { latencyOf, random }) => {
  const ordered = least(entries, (entry) => latencyOf(entry) ?? -1)
  if (ordered.length < 2 || random() >= EXPLORED) return ordered
  const [other] = ordered.splice(1 + Math.floor(random() * (ordered.length - 1)), 1)
  return other ? [other, ...ordered] : ordered
}
