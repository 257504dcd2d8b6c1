import { type ProviderNames, stripName } from '../providers/names.ts'
import type { CatalogModel, Kind } from '../types.ts'
import { inferKind, kindOf } from './kinds.ts'

/**
 * Makes a function that returns the kind of a provider's model id: that of the catalog, found with or without one of the provider's names
 * in front, otherwise inferred from the id (spec.md, Listing rules 4). Of several entries with one id the first counts.
 */
export function createKindLookup(models: readonly CatalogModel[], names: ProviderNames): (id: string) => Kind {
  const bareId = (id: string) => stripName(id, names)
  const exact = kindsById(models, (id) => id)
  let bare: Map<string, Kind> | undefined // most providers never need it

  function withoutName(id: string): Kind | undefined {
    bare ??= kindsById(models, bareId)
    return bare.get(id) ?? bare.get(bareId(id))
  }

  return (id) => exact.get(id) ?? withoutName(id) ?? inferKind(id)
}

function kindsById(models: readonly CatalogModel[], keyOf: (id: string) => string): Map<string, Kind> {
  const kinds = new Map<string, Kind>()
  for (const model of models) {
    const key = keyOf(model.id)
    if (!kinds.has(key)) kinds.set(key, kindOf(model))
  }
  return kinds
}
