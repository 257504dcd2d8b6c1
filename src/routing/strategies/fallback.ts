import type { Order } from './order.ts'

/** As listed. */
export const fallback: Order = (entries) => entries
