import type { Connection } from '../../types.ts'

type SortableConnection = Pick<Connection, 'isActive' | 'priority' | 'createdAt'>

/** Returns the active connections, ordered by priority (lower first, absent last), then by age. Only `isActive: false` excludes a connection. */
export function sortActiveConnections<C extends SortableConnection>(connections: readonly C[]): C[] {
  return connections
    .filter((connection) => connection.isActive !== false)
    .sort(
      (a, b) =>
        compare(a.priority ?? Number.POSITIVE_INFINITY, b.priority ?? Number.POSITIVE_INFINITY) ||
        compare(a.createdAt, b.createdAt),
    )
}

const compare = <V extends number | string>(a: V, b: V) => (a < b ? -1 : a > b ? 1 : 0)
