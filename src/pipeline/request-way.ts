import type { Awaitable } from '../lib/awaitable.ts'
import type { Choice, Chosen, Entry, Group } from '../routing/group.ts'
import type { Lookahead } from '../routing/select.ts'
import type { RouteTable } from '../routing/table.ts'
import { viaOf } from '../routing/via.ts'
import type { RequestSelection } from './choosing.ts'
import type { Way } from './group-routes.ts'
import type { Report } from './report.ts'

/** How one request chooses in groups; its report hears of what is left out. */
export const requestWay = (table: RouteTable, selection: RequestSelection, report: Report): Way => ({
  table,
  select: (group: Group, lookahead: Lookahead): Awaitable<Chosen> => selection.select(group, lookahead),
  onLeftOut({ name, when }: Entry, where: Pick<Choice, 'group' | 'before'>) {
    report.leftOut(name, `when.${when && selection.unmet(when)}`, viaOf(where))
  },
  onDeadEnd: ({ name }, where) => report.leftOut(name, 'unreachable', viaOf(where)),
})
