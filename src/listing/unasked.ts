import type { NamedConnection } from '../providers/names.ts'
import { compatibleFormat, isLocal } from '../providers/target.ts'
import type { CatalogProvider } from '../types.ts'

/** The enabled ids; `undefined` without a list, and empty when all of its ids are blank. */
export function enabledIds({ providerSpecificData }: NamedConnection): string[] | undefined {
  const enabled: unknown = providerSpecificData?.enabledModels
  if (!Array.isArray(enabled) || enabled.length === 0) return undefined
  return [...new Set(enabled.filter((id): id is string => typeof id === 'string' && id.trim() !== ''))]
}

/** Is it a compatible provider whose id does not end in `-` or `_` and 8 or more hex digits? */
export const asksUpstream = (provider: string): boolean =>
  compatibleFormat(provider) !== undefined && !/[-_][0-9a-f]{8,}$/i.test(provider)

/** What the listing shows of a connection whose server it does not ask: no models, or those of the catalog. */
export type Unasked = 'nothing' | 'catalog'

/**
 * What the listing shows of a connection without asking its server, where that need not be what the server has: `undefined` where models are
 * enabled, where the listing asks, and at a vendor's own address, whose models the catalog knows. `definition`: of its provider.
 */
export function shownUnasked(
  connection: NamedConnection & { hasKey: boolean },
  definition: CatalogProvider | undefined,
): Unasked | undefined {
  const { provider, providerSpecificData, hasKey } = connection
  const hasOwnAddress = Boolean(providerSpecificData?.baseUrl?.trim())
  if (enabledIds(connection)?.length || definition?.cloud || isOnlyService(definition)) return undefined
  if (definition?.models?.length) return isLocal(definition) || (hasOwnAddress && !hasKey) ? 'catalog' : undefined
  return asksUpstream(provider) && hasKey && hasOwnAddress ? undefined : 'nothing'
}

/** Search, fetching and voices have no models. */
const isOnlyService = (definition: CatalogProvider | undefined): boolean =>
  definition?.serviceKinds !== undefined && !definition.serviceKinds.includes('llm')
