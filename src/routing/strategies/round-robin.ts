import type { Order } from './order.ts'

/** As listed, starting at the entry whose turn it is. */
export const roundRobin: Order = (entries, { turn }) => [
  ...entries.filter(({ index }) => index >= turn),
  ...entries.filter(({ index }) => index < turn),
]
