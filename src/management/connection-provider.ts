import { didYouMean } from '../lib/did-you-mean.ts'
import { nearest } from '../lib/nearest.ts'
import { compatibleFormat } from '../providers/compatible.ts'
import { definitionOf } from '../providers/names.ts'
import type { Catalog, CatalogModel, ProviderSpecificData } from '../types.ts'
import { invalidInput } from './input.ts'

/**
 * A connection's provider is in the catalog, or of a compatible kind, or brings its own address. Throws `INVALID_REQUEST` naming the
 * nearest.
 */
export function requireProvider(catalog: Catalog, provider: string, data: ProviderSpecificData | undefined): void {
  if (definitionOf(catalog, provider) || compatibleFormat(provider) || data?.baseUrl) return
  const hint = didYouMean(nearestProviders(catalog, provider)) ?? 'See GET /api/providers.'
  throw invalidInput(
    `Unknown provider "${provider}". ${hint} For any other provider, send its address as "providerSpecificData.baseUrl".`,
  )
}

/** Ids of providers, found by the family of models that people name them after, and by their ids, aliases and names. */
function nearestProviders(catalog: Catalog, provider: string): string[] {
  const ids = new Map<string, string>()
  for (const [id, { alias, catalogAlias, name }] of Object.entries(catalog)) {
    for (const known of [alias, catalogAlias, name]) if (known !== undefined && !ids.has(known)) ids.set(known, id)
  }
  for (const id of Object.keys(catalog)) ids.set(id, id)
  const near = nearest(provider, ids.keys()).map((known) => ids.get(known) ?? known)
  return [...new Set([...makersOf(catalog, provider), ...near])]
}

/** The first provider that has models of that family: `claude` for `claude-opus-4-5`. Routers write `anthropic/claude-…`. */
function makersOf(catalog: Catalog, family: string): string[] {
  const wanted = family.toLowerCase()
  const isOne = ({ id }: CatalogModel) => /^[a-z]+(?=-[^/]*$)/i.exec(id)?.[0].toLowerCase() === wanted
  return Object.keys(catalog)
    .filter((provider) => catalog[provider]?.models?.some(isOne))
    .slice(0, 1)
}
