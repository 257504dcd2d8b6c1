import type { Group, GroupChoice, Route, TargetOrder } from '../routing/group.ts'
import { getEntryLookup } from '../routing/group-reach.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { Select } from '../routing/select.ts'

/** Maximum number of routes to arrange per entry. The others follow unchanged. */
const MAX_ARRANGED = 1_000

/** Arranges the routes within each outermost entry, without changing the order of the entries. */
export async function* arrangeRoutes(
  routes: AsyncIterable<Route>,
  arrangement: TargetOrder,
  { table, select }: { table: RouteTable; select: Select },
): AsyncGenerator<Route, undefined> {
  let batch: Route[] = []
  for await (const route of routes) {
    const isFull = batch.length === MAX_ARRANGED
    if (isFull || (batch[0] && getOutermost(batch[0].via)?.entry !== getOutermost(route.via)?.entry)) {
      yield* await arrangeBatch(batch, arrangement, { table, select })
      batch = []
    }
    batch.push(route)
  }
  yield* await arrangeBatch(batch, arrangement, { table, select })
}

function getOutermost(via: GroupChoice | undefined): GroupChoice | undefined {
  let outermostChoice = via
  while (outermostChoice?.parent) outermostChoice = outermostChoice.parent
  return outermostChoice
}

async function arrangeBatch(
  routes: readonly Route[],
  { getRank, strategy }: TargetOrder,
  { table, select }: { table: RouteTable; select: Select },
): Promise<readonly Route[]> {
  const sorted = strategy ? await sortRoutes(routes, strategy, { table, select }) : routes
  return [...sorted].sort((a, b) => getRank(a.target) - getRank(b.target))
}

/** Sorts routes by a strategy, as if they were a combo's entries. */
async function sortRoutes(
  routes: readonly Route[],
  strategy: Group['strategy'],
  { table, select }: { table: RouteTable; select: Select },
): Promise<readonly Route[]> {
  const entries = routes.map(({ target }, index) => ({ index, name: target.connection.id, weight: 1, target }))
  const group: Group = { name: 'sort', label: 'sort', strategy, stickyLimit: 1, hedge: false, entries }
  const order = await select(group, getEntryLookup(table))
  return order.entries.flatMap((entry): Route[] => {
    const route = routes[entry.index]
    return route ? [{ ...route, via: { group, order, entry, parent: route.via } }] : []
  })
}
