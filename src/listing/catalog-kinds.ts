import { type ProviderNames, stripName } from '../providers/names.ts'
import type { CatalogModel, Kind } from '../types.ts'
import { inferKind, kindOf } from './kinds.ts'

/**
 * Tells the kind of a provider's ids: the catalog's, found with or without one of the provider's names in front, else what the id
 * itself suggests (spec.md, Listing rules 4). Of several entries with one id the first counts.
 */
export function createKindLookup(models: readonly CatalogModel[], names: ProviderNames): (id: string) => Kind {
  const exact = new Map<string, Kind>()
  const bare = new Map<string, Kind>()
  for (const model of models) {
    addFirst(exact, model.id, kindOf(model))
    addFirst(bare, stripName(model.id, names), kindOf(model))
  }
  return (id) => exact.get(id) ?? bare.get(id) ?? bare.get(stripName(id, names)) ?? inferKind(id)
}

function addFirst(kinds: Map<string, Kind>, id: string, kind: Kind): void {
  if (!kinds.has(id)) kinds.set(id, kind)
}
