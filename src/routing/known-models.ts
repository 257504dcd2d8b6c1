import { catalogModelOf } from '../providers/catalog-model.ts'
import type { RouteTarget } from './group.ts'
import type { RouteTable } from './route-table.ts'

/*
 * Which models the gateway knows by name. A client may ask for any other, which is passed on: what is counted by name must not count those.
 */

/** Is the model in the catalog, or enabled on the connection? */
export const isKnownTarget = (
  { provider, model, connection }: Pick<RouteTarget, 'provider' | 'model' | 'connection'>,
  { catalog }: Pick<RouteTable, 'catalog'>,
): boolean =>
  catalogModelOf(catalog, { provider, model }) !== undefined ||
  (connection.providerSpecificData?.enabledModels?.includes(model) ?? false)

/** Is the name a combo, an alias, or that of a known model? */
export function isKnownName(name: string, table: RouteTable): boolean {
  const known = knownNames.get(table) ?? new Set<string>()
  if (known.has(name)) return true
  const isKnown =
    table.combos.has(name) ||
    table.aliases.has(name) ||
    (table.targetsOf(name) ?? []).some((target) => isKnownTarget(target, table))
  if (isKnown && known.size < MAX_NAMES) knownNames.set(table, known.add(name))
  return isKnown
}

/** A cache of the known names that were requested: finding the targets of a name takes longer than all else that is measured of a request. */
const knownNames = new WeakMap<RouteTable, Set<string>>()
const MAX_NAMES = 2_000
