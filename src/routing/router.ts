import type { Store } from '../store/store.ts'
import type { Catalog } from '../types.ts'
import type { Rotation } from './rotation.ts'
import { createRouteTable, type Routes, type RouteTable } from './table.ts'

/** The current route table; compiled anew only when connections, combos or aliases have changed. Throws `STORAGE_FAILED`. */
export function createModelRouter(deps: {
  store: Store
  catalog: Catalog
  rotation: Rotation
}): () => Promise<RouteTable> {
  const { store } = deps
  let compiled: { from: Routes; table: RouteTable } | undefined
  return async () => {
    const [connections, combos, aliases] = await Promise.all([
      store.connections.all(),
      store.combos.all(),
      store.aliases.all(),
    ])
    const from = compiled?.from
    if (!compiled || from?.connections !== connections || from.combos !== combos || from.aliases !== aliases) {
      const routes = { connections, combos, aliases }
      compiled = { from: routes, table: createRouteTable(routes, deps) }
    }
    return compiled.table
  }
}
