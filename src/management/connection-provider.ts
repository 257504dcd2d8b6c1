import { didYouMean } from '../lib/did-you-mean.ts'
import { nearest } from '../lib/nearest.ts'
import { compatibleFormat } from '../providers/compatible.ts'
import { definitionOf } from '../providers/names.ts'
import type { Catalog, ProviderSpecificData } from '../types.ts'
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

/** Ids of providers, found by their ids, aliases and names. */
function nearestProviders(catalog: Catalog, provider: string): string[] {
  const ids = new Map<string, string>()
  for (const [id, { alias, catalogAlias, name }] of Object.entries(catalog)) {
    for (const known of [alias, catalogAlias, name]) if (known !== undefined && !ids.has(known)) ids.set(known, id)
  }
  for (const id of Object.keys(catalog)) ids.set(id, id)
  return [...new Set(nearest(provider, ids.keys()).map((known) => ids.get(known) ?? known))]
}
