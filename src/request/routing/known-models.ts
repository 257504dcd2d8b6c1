import { getCatalogModel } from '../../protocols/providers/catalog-model.ts'
import type { RouteTarget } from './group.ts'
import type { RouteTable } from './route-table.ts'

/**
 * The models that the gateway knows by name. Clients may request any other name, which is forwarded, so per-name counters must ignore unknown ones.
 */

/** Returns whether the model is in the catalog, or enabled on the connection. */
export const isKnownTarget = (
  { provider, model, connection }: Pick<RouteTarget, 'provider' | 'model' | 'connection'>,
  { catalog }: Pick<RouteTable, 'catalog'>,
): boolean =>
  getCatalogModel(catalog, { provider, model }) !== undefined ||
  (connection.providerSpecificData?.enabledModels?.includes(model) ?? false)

/** Returns whether the name is a combo, an alias, or a known model. */
export function isKnownName(name: string, table: RouteTable): boolean {
  const knownNames = knownNamesByTable.get(table) ?? new Set<string>()
  if (knownNames.has(name)) return true
  const isKnown =
    table.combos.has(name) ||
    table.aliases.has(name) ||
    (table.findTargets(name) ?? []).some((target) => isKnownTarget(target, table))
  if (isKnown && knownNames.size < MAX_CACHED_NAMES) knownNamesByTable.set(table, knownNames.add(name))
  return isKnown
}

/** Caches known names that were requested, because finding a name's targets takes longer than all other measurement work. */
const knownNamesByTable = new WeakMap<RouteTable, Set<string>>()
const MAX_CACHED_NAMES = 2_000
