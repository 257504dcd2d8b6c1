import { gatewayError } from '../../errors.ts'
import type { GroupSelection } from '../../routing/chooser.ts'
import { type Choosing, type ChoosingDependencies, createChoosing } from '../../routing/choosing.ts'
import { unmet } from '../../routing/facts.ts'
import { follow, type OnDeadEnd } from '../../routing/follow.ts'
import type { Group, GroupChoice, GroupEntry, GroupOrder, Route } from '../../routing/group.ts'
import { viaOf } from '../../routing/group.ts'
import { groupReachOf, resolutionOfEntry } from '../../routing/group-reach.ts'
import type { RouteTable } from '../../routing/route-table.ts'
import type { Select } from '../../routing/select.ts'
import { factsOf } from '../facts.ts'
import type { ModelRequest } from '../request.ts'
import { loadNameErrors } from './no-target.ts'

/** How requests choose in groups. */
export interface GroupRouting extends Choosing {
  /** The routes of a request whose model name means a group. */
  routesThrough(group: Group, request: ModelRequest): GroupRoutes
}

/** The routes of a group in the order in which to try them, and how the request chooses on the way. */
interface GroupRoutes {
  routes: AsyncGenerator<Route, undefined>
  selection: GroupSelection
}

/** Makes how requests choose in groups, with the state that groups keep. */
export function createGroupRouting(dependencies: ChoosingDependencies): GroupRouting {
  const choosing = createChoosing(dependencies)
  return {
    ...choosing,
    routesThrough(group, { call, exchange, table, context, log }) {
      const facts = factsOf(call, (name) => exchange.header(name))
      const selection = choosing.selectionFor(facts, context.health)
      const routes = routesOfGroup(group, call.model, {
        table,
        select: selection.select,
        onLeftOut: ({ name, when }, where) => log.leftOut(name, `when.${when && unmet(facts, when)}`, viaOf(where)),
        onDeadEnd: ({ name }, where) => log.leftOut(name, 'unreachable', viaOf(where)),
      })
      return { routes, selection }
    },
  }
}

/** How the routes of a name are looked up and chosen. */
export interface GroupResolver {
  table: RouteTable
  select: Select
  /** Called with each group on the way. */
  onGroup?(group: Group): void
  /** Called with each entry whose `when` the request does not meet. */
  onLeftOut?(entry: GroupEntry, way: Pick<GroupChoice, 'group' | 'before'>): void
  /** Called with each entry whose name leads nowhere, when its turn comes. */
  onDeadEnd?: OnDeadEnd
}

/**
 * The routes of the model name `model`, which means a group, in the order in which to try them. Rejects with `MODEL_NOT_FOUND` when there are
 * none, and with `INVALID_REQUEST` when conditions exclude all of them.
 */
export async function* routesOfGroup(
  outermost: Group,
  model: string,
  resolver: GroupResolver,
): AsyncGenerator<Route, undefined> {
  const { table } = resolver
  let isAny = false
  let leftOut: Group | undefined

  async function select(group: Group, groupReach: Parameters<Select>[1], before?: GroupChoice): Promise<GroupOrder> {
    resolver.onGroup?.(group)
    const chosen = await resolver.select(group, groupReach)
    if (chosen.entries.length === group.entries.length) return chosen
    leftOut ??= group
    for (const entry of group.entries)
      if (!chosen.entries.includes(entry)) resolver.onLeftOut?.(entry, { group, before })
    return chosen
  }

  const routes = follow(outermost, {
    groupReach: groupReachOf(table),
    resolutionOf: (entry, within) => resolutionOfEntry(table, entry, within),
    select,
    onDeadEnd: (entry, where) => resolver.onDeadEnd?.(entry, where),
  })
  for await (const route of routes) {
    isAny = true
    yield route
  }
  if (isAny) return undefined
  if (leftOut) throw notMeant(leftOut)
  throw await (await loadNameErrors()).unreachableModel(model, table, outermost)
}

const notMeant = ({ name, label }: Group) =>
  gatewayError('INVALID_REQUEST', {
    message: `No model of the ${label === 'list' ? 'list' : 'combo'} "${name}" that can be reached is for a request like this one: see the conditions ("when") of its models.`,
  })
