import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { Choice, Chosen, Entry, Group } from '../routing/group.ts'
import type { Lookahead } from '../routing/select.ts'
import type { RouteTable } from '../routing/table.ts'
import { viaOf } from '../routing/via.ts'
import type { Choosing, RequestSelection } from './choosing.ts'
import type { ModelRequest } from './model-request.ts'
import type { Way } from './targets.ts'

/** How one request chooses in groups, which most requests do not come to. A class, because one is made for each request and lives as long. */
export class RequestWay implements Way {
  readonly table: RouteTable
  /** From the first group on. */
  selection: RequestSelection | undefined = undefined
  private readonly request: ModelRequest

  constructor(request: ModelRequest, table: RouteTable) {
    this.request = request
    this.table = table
  }

  select(group: Group, lookahead: Lookahead): Awaitable<Chosen> {
    if (this.selection) return this.selection.select(group, lookahead)
    const choosing = this.request.context.choosing()
    return isPromise(choosing)
      ? choosing.then((loaded) => this.selectionBy(loaded).select(group, lookahead))
      : this.selectionBy(choosing).select(group, lookahead)
  }

  onLeftOut({ name, when }: Entry, where: Pick<Choice, 'group' | 'before'>): void {
    this.request.report.leftOut(name, `when.${when && this.selection?.unmet(when)}`, viaOf(where))
  }

  onDeadEnd({ name }: Entry, where: Pick<Choice, 'group' | 'before'>): void {
    this.request.report.leftOut(name, 'unreachable', viaOf(where))
  }

  private selectionBy(choosing: Choosing): RequestSelection {
    this.selection ??= choosing.selectionFor(this.request)
    return this.selection
  }
}
