import { getSettledValue } from '../../lib/promises.ts'
import type { ModelRequest } from '../model-request.ts'
import type { GroupSelection } from '../routing/chooser.ts'
import type { Route } from '../routing/group.ts'
import { loadNameErrors } from './no-target.ts'

/** A model name's routes, and the selection within the groups on the path (`undefined` if there are none). */
export interface FoundRoutes {
  routes: AsyncIterator<Route, undefined> | Iterator<Route, undefined>
  selection: GroupSelection | undefined
}

/** Finds the requested model's routes. Rejects with `MODEL_NOT_FOUND` if the name has no target. */
export function findRoutes(request: ModelRequest): FoundRoutes | Promise<FoundRoutes> {
  const { table, call, context, list } = request
  const resolution = list ?? table.resolveModel(call.model, undefined, call.endpoint.service)
  if (!resolution) return rejectUnknownModel(request)
  if (!('strategy' in resolution)) return orderRoutes({ routes: resolution.values(), selection: undefined }, request)
  const routingPromise = context.loadGroupRouting()
  const groupRouting = getSettledValue(routingPromise)
  return groupRouting
    ? orderRoutes(groupRouting.getGroupRoutes(resolution, request), request)
    : routingPromise.then((groupRouting) => orderRoutes(groupRouting.getGroupRoutes(resolution, request), request))
}

function orderRoutes({ routes, selection }: FoundRoutes, request: ModelRequest): FoundRoutes {
  let orderedRoutes = routes
  for (const applyOrder of request.context.routeOrders) orderedRoutes = applyOrder(request, orderedRoutes)
  return { routes: orderedRoutes, selection }
}

async function rejectUnknownModel({ table, call }: ModelRequest): Promise<never> {
  throw await (await loadNameErrors()).createUnknownModelError(call.model, table, call.endpoint)
}
