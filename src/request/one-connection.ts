import type { Store } from '../records/store.ts'
import type { Catalog } from '../types.ts'
import { createRouteTable, type RouteTable } from './routing/route-table.ts'

/** Returns the route table of a single connection, which is usable even if the connection is paused or draining. Rejects with `STORAGE_FAILED`. */
export async function createConnectionTable(
  id: string,
  { store, catalog, basePath }: { store: Store; catalog: Catalog; basePath: string },
): Promise<RouteTable> {
  const [all, customModels] = await Promise.all([store.connections.all(), store.customModels.all()])
  const connections = all
    .filter((connection) => connection.id === id)
    .map((connection) => ({ ...connection, isActive: true, draining: false }))
  return createRouteTable(
    { connections, customModels, combos: [], aliases: [], providers: [] },
    { catalog, basePath, loadCustomModels: async () => customModels, code: store.code.records },
  )
}
