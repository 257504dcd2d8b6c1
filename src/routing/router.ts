import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { Store } from '../store/store.ts'
import type { Catalog } from '../types.ts'
import { createRouteTable, type Routes, type RouteTable } from './table.ts'

/** Returns the current route table, compiled again only when its data has changed. Rejects with `STORAGE_FAILED`. */
export function createModelRouter({
  store,
  ...shared
}: {
  store: Store
  catalog: Catalog
  basePath: string
}): () => Awaitable<RouteTable> {
  const deps = { ...shared, customModels: () => store.customModels.all() }
  let compiled: { from: Routes; table: RouteTable } | undefined

  function tableOf(from: Routes): RouteTable {
    if (!compiled || !isSame(compiled.from, from)) compiled = { from, table: createRouteTable(from, deps) }
    return compiled.table
  }

  return () => {
    const connections = store.connections.all()
    const combos = store.combos.all()
    const aliases = store.aliases.all()
    const providers = store.providers.all()
    if (isPromise(connections) || isPromise(combos) || isPromise(aliases) || isPromise(providers)) {
      return Promise.all([connections, combos, aliases, providers]).then(([connections, combos, aliases, providers]) =>
        tableOf({ connections, combos, aliases, providers }),
      )
    }
    return tableOf({ connections, combos, aliases, providers })
  }
}

const isSame = (one: Routes, other: Routes) =>
  one.connections === other.connections &&
  one.combos === other.combos &&
  one.aliases === other.aliases &&
  one.providers === other.providers
