import type { Catalog, CatalogProvider, Connection } from '../../types.ts'

/** The three names of a connection's provider (src/rules.md, Listing with connections). */
export interface ProviderNames {
  /** The connection's prefix, or else the provider's configured alias, or else the catalog alias. Trimmed. */
  output: string
  catalog: string
  id: string
}

/** The connection fields that determine its names. */
export type NamedConnection = Pick<Connection, 'provider' | 'providerSpecificData'>

/** Returns the provider's definition, if the catalog has one. */
export const getDefinition = (catalog: Catalog, provider: string): CatalogProvider | undefined =>
  Object.hasOwn(catalog, provider) ? catalog[provider] : undefined

/** Returns the provider's name in model IDs: `catalogAlias`, or else `alias`, or else its ID. */
export const getCatalogAlias = (provider: string, definition: CatalogProvider | undefined): string =>
  ignoreBlank(definition?.catalogAlias) ?? ignoreBlank(definition?.alias) ?? provider

const ignoreBlank = (name: string | undefined) => (name?.trim() ? name : undefined)

/** Returns the names of a connection's provider, which may be missing from the catalog. */
export function getProviderNames(catalog: Catalog, connection: NamedConnection): ProviderNames {
  const definition = getDefinition(catalog, connection.provider)
  const catalogAlias = getCatalogAlias(connection.provider, definition)
  const prefix = connection.providerSpecificData?.prefix?.trim()
  return {
    output: prefix || (ignoreBlank(definition?.alias) ?? catalogAlias).trim(),
    catalog: catalogAlias,
    id: connection.provider,
  }
}

/** Removes a leading `<name>/` from a model ID, where `<name>` is any of the three names. */
export function stripProviderName(modelId: string, names: ProviderNames): string {
  for (const name of [names.output, names.catalog, names.id]) {
    if (modelId.startsWith(`${name}/`)) return modelId.slice(name.length + 1)
  }
  return modelId
}
