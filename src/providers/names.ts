import type { Catalog, CatalogProvider, Connection } from '../types.ts'

/** The three names of a connection's provider (src/rules.md, Listing with connections). */
export interface ProviderNames {
  /** The connection's prefix, else the provider's configured alias, else the catalog alias; trimmed. */
  output: string
  catalog: string
  id: string
}

/** The parts of a connection that its names depend on. */
export type NamedConnection = Pick<Connection, 'provider' | 'providerSpecificData'>

/** The provider's definition, if the catalog has one. */
export const definitionOf = (catalog: Catalog, provider: string): CatalogProvider | undefined =>
  Object.hasOwn(catalog, provider) ? catalog[provider] : undefined

/** The name that the provider's models are filed under: `catalogAlias`, else `alias`, else its id. */
export const catalogAliasOf = (provider: string, definition: CatalogProvider | undefined): string =>
  notBlank(definition?.catalogAlias) ?? notBlank(definition?.alias) ?? provider

const notBlank = (name: string | undefined) => (name?.trim() ? name : undefined)

/** The names of a connection's provider, which need not be in the catalog. */
export function namesOf(catalog: Catalog, connection: NamedConnection): ProviderNames {
  const definition = definitionOf(catalog, connection.provider)
  const catalogAlias = catalogAliasOf(connection.provider, definition)
  const prefix = connection.providerSpecificData?.prefix?.trim()
  return {
    output: prefix || (notBlank(definition?.alias) ?? catalogAlias).trim(),
    catalog: catalogAlias,
    id: connection.provider,
  }
}

/** The model id without a leading `<name>/` of one of the three names. */
export function stripName(modelId: string, names: ProviderNames): string {
  for (const name of [names.output, names.catalog, names.id]) {
    if (modelId.startsWith(`${name}/`)) return modelId.slice(name.length + 1)
  }
  return modelId
}
