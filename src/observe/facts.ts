import type { Management } from '../management/operations.ts'
import type { TargetFact } from '../pipeline/observing.ts'
import type { Health } from '../routing/health.ts'
import { targetStates } from '../routing/health-entry.ts'
import { isKnownTarget } from '../routing/known-models.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { LimitState } from '../types.ts'

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

/** The limits of the gateway and of the first groups that have some, as they stand. Those of keys are too many to be looked at with each scrape. */
export async function limitFacts({ groups, settings }: Pick<Management, 'groups' | 'settings'>): Promise<LimitState[]> {
  const limited = (await groups.list()).groups.filter(({ limits }) => limits).slice(0, MAX_GROUPS)
  const [own, ...ofGroups] = await Promise.all([
    settings.limits.get(),
    ...limited.map(({ id }) => groups.limits.get(id)),
  ])
  return [...own.limits, ...ofGroups.flatMap(({ limits }) => limits.filter(({ scope }) => scope === 'group'))]
}

const MAX_GROUPS = 100
