import { getCatalogAge } from '../../pricing/catalog-age.ts'
import { listTargetStates } from '../../request/routing/health-entry.ts'
import { isKnownTarget } from '../../request/routing/known-models.ts'
import type { RouteTable } from '../../request/routing/route-table.ts'
import type { Health } from '../../request/routing/target-health.ts'
import type { Catalog, Clock, LimitState, UsageLimits } from '../../types.ts'
import type { TargetFact } from './observer.ts'

/** Returns the states of targets that were called recently or are in cooldown. */
export function getTargetFacts(table: RouteTable, health: Health): TargetFact[] {
  const connections = new Map(table.connections.map((connection) => [connection.id, connection]))
  return listTargetStates(table.connections, health.facts).flatMap(
    ({ provider, connectionId, model, combo, state }) => {
      const connection = connections.get(connectionId)
      if (!connection || model === undefined || combo !== undefined) return []
      const isKnown = isKnownTarget({ provider, model, connection }, table)
      return { provider, connectionId, model, isKnown, state: state === 'probing' ? 'cooling' : state }
    },
  )
}

/** Returns the limits of the gateway and the first groups with limits. Excludes keys, because there are too many to read on each scrape. */
export async function getLimitFacts({ groups, settings }: LimitSources): Promise<LimitState[]> {
  const limitedGroups = (await groups.list()).groups.filter(({ limits }) => limits).slice(0, MAX_GROUPS)
  const [gatewayLimits, ...groupLimits] = await Promise.all([
    settings.limits.get(),
    ...limitedGroups.map(({ id }) => groups.limits.get(id)),
  ])
  return [
    ...gatewayLimits.limits,
    ...groupLimits.flatMap(({ limits }) => limits.filter(({ scope }) => scope === 'group')),
  ]
}

/** Returns the newest prices' age in ms, or `undefined` if the catalog has no date. */
export function getCatalogAgeMs(catalog: Catalog, clock: Pick<Clock, 'now'>): number | undefined {
  const { asOf } = getCatalogAge(catalog)
  return asOf === undefined ? undefined : Math.max(0, clock.now() - Date.parse(asOf))
}

/** The `gateway.api` operations that list limits. */
interface LimitSources {
  groups: {
    list(): Promise<{ groups: { id: string; limits?: UsageLimits }[] }>
    limits: { get(id: string): Promise<{ limits: LimitState[] }> }
  }
  settings: { limits: { get(): Promise<{ limits: LimitState[] }> } }
}

const MAX_GROUPS = 100
