import type { Order } from './order.ts'

/** As listed, beginning with the one whose turn it is; those before it come last. An empty list takes no turn. */
export const roundRobin: Order = (entries, { turn }) => {
  if (entries.length === 0) return entries
  const start = turn()
  return [...entries.slice(start), ...entries.slice(0, start)]
}
