import type { NamedConnection } from '../../protocols/providers/provider-names.ts'
import { getCompatibleFormat, isLocalProvider } from '../../protocols/providers/target.ts'
import type { CatalogProvider } from '../../types.ts'

/** Returns a connection's enabled model IDs: `undefined` if it has no list of them, empty if all IDs are blank. */
export function getEnabledIds({ providerSpecificData }: NamedConnection): string[] | undefined {
  const enabledModels: unknown = providerSpecificData?.enabledModels
  if (!Array.isArray(enabledModels) || enabledModels.length === 0) return undefined
  return [...new Set(enabledModels.filter((id): id is string => typeof id === 'string' && id.trim() !== ''))]
}

/**
 * Returns whether the listing queries the provider's server. It does so for compatible providers, unless their ID ends in `-` or `_` and 8 or more
 * hex digits.
 */
export const queriesUpstream = (provider: string): boolean =>
  getCompatibleFormat(provider) !== undefined && !/[-_][0-9a-f]{8,}$/i.test(provider)

/** The models that the listing shows for a connection without querying its server: none, or those in the catalog. */
export type FallbackList = 'nothing' | 'catalog'

/**
 * Returns which models the listing shows for a connection whose server may have others, because the listing doesn't query it. Returns `undefined` if
 * models are enabled, if the listing queries the server, or for a vendor's own base URL, whose models are in the catalog. `definition` is the catalog
 * entry of the connection's provider.
 */
export function getFallbackList(
  connection: NamedConnection & { hasKey: boolean },
  definition: CatalogProvider | undefined,
): FallbackList | undefined {
  const { provider, providerSpecificData, hasKey } = connection
  const hasCustomUrl = Boolean(providerSpecificData?.baseUrl?.trim())
  if (getEnabledIds(connection)?.length || definition?.cloud || hasOnlyServices(definition)) return undefined
  if (definition?.models?.length)
    return isLocalProvider(definition) || (hasCustomUrl && !hasKey) ? 'catalog' : undefined
  return queriesUpstream(provider) && hasKey && hasCustomUrl ? undefined : 'nothing'
}

/** Returns whether a provider offers only services without models: web search, web fetch, and voices. */
const hasOnlyServices = (definition: CatalogProvider | undefined): boolean =>
  definition?.serviceKinds !== undefined && !definition.serviceKinds.includes('llm')
