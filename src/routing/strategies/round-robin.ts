import type { Order } from './order.ts'

/** As listed, beginning with the one whose turn it is; those before it come last. */
export const roundRobin: Order = (entries, { turn }) => [
  ...entries.filter(({ index }) => index >= turn),
  ...entries.filter(({ index }) => index < turn),
]
