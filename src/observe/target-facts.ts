import type { TargetFact } from '../pipeline/observing.ts'
import type { Health } from '../routing/health.ts'
import { targetStates } from '../routing/health-entry.ts'
import { isKnownTarget } from '../routing/known-models.ts'
import type { RouteTable } from '../routing/route-table.ts'

/** The states of the targets that have been called lately, or that cool. */
export function targetFacts(table: RouteTable, health: Health): TargetFact[] {
  const connections = new Map(table.connections.map((connection) => [connection.id, connection]))
  return targetStates(table.connections, health.facts).flatMap(({ provider, connectionId, model, combo, state }) => {
    const connection = connections.get(connectionId)
    if (!connection || model === undefined || combo !== undefined) return []
    const isKnown = isKnownTarget({ provider, model, connection }, table)
    return { provider, connectionId, model, isKnown, state: state === 'probing' ? 'cooling' : state }
  })
}
