import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { Store } from '../store/store.ts'
import { createRouteTable, type Routes, type RouteTable, type RouteTableDependencies } from './table.ts'

/** The current route table; compiled anew only when connections, combos or aliases have changed. Throws `STORAGE_FAILED`. */
export function createModelRouter(
  given: Omit<RouteTableDependencies, 'customModels'> & { store: Store },
): () => Awaitable<RouteTable> {
  const { store } = given
  const deps = { ...given, customModels: () => store.customModels.all() }
  let compiled: { from: Routes; table: RouteTable } | undefined

  function tableOf(connections: Routes['connections'], combos: Routes['combos'], aliases: Routes['aliases']) {
    const from = compiled?.from
    if (!compiled || from?.connections !== connections || from.combos !== combos || from.aliases !== aliases) {
      const routes = { connections, combos, aliases }
      compiled = { from: routes, table: createRouteTable(routes, deps) }
    }
    return compiled.table
  }

  return () => {
    const connections = store.connections.all()
    const combos = store.combos.all()
    const aliases = store.aliases.all()
    if (isPromise(connections) || isPromise(combos) || isPromise(aliases)) {
      return Promise.all([connections, combos, aliases]).then((routes) => tableOf(...routes))
    }
    return tableOf(connections, combos, aliases)
  }
}
