import { least } from './least.ts'
import type { Order } from './order.ts'

/** Fewest requests under way first; equals as listed. */
export const leastBusy: Order = (entries, { loadOf }) => least(entries, loadOf)
