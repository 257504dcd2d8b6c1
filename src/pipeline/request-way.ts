import type { Selection } from '../routing/chooser.ts'
import type { RouteTable } from '../routing/table.ts'
import { viaOf } from '../routing/via.ts'
import type { Condition } from '../types.ts'
import type { Way } from './group-routes.ts'
import type { Report } from './report.ts'

/** The selections of one request. */
export interface RequestSelection extends Selection {
  /** The member of a condition that the request does not meet. */
  unmet(when: Condition): string | undefined
}

/** How one request chooses in groups; its report hears of what is left out. */
export const requestWay = (table: RouteTable, selection: RequestSelection, report: Report): Way => ({
  table,
  select: selection.select,
  onLeftOut: ({ name, when }, where) => report.leftOut(name, `when.${when && selection.unmet(when)}`, viaOf(where)),
  onDeadEnd: ({ name }, where) => report.leftOut(name, 'unreachable', viaOf(where)),
})
