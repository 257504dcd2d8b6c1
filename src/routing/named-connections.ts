import { activeInOrder } from '../providers/connections.ts'
import { namesOf } from '../providers/names.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Catalog } from '../types.ts'

/** Active connections by each of their three names, in the order in which they are used. */
export type NamedConnections = ReadonlyMap<string, readonly ConnectionRecord[]>

/** Files active connections under their names. */
export function connectionsByName(connections: readonly ConnectionRecord[], catalog: Catalog): NamedConnections {
  const byName = new Map<string, ConnectionRecord[]>()
  for (const connection of activeInOrder(connections)) {
    const names = namesOf(catalog, connection)
    for (const name of new Set([names.output, names.catalog, names.id])) {
      const named = byName.get(name)
      if (named) named.push(connection)
      else byName.set(name, [connection])
    }
  }
  return byName
}
