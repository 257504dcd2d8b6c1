import { catalogAliasOf } from '../providers/names.ts'
import type { Catalog, CatalogProvider } from '../types.ts'

/** A provider of the catalog as the management API shows it, with the defaults for what its definition leaves out. */
export interface Provider extends CatalogProvider {
  id: string
}

/** The catalog, read only. */
export interface ProviderOperations {
  list(): Promise<{ providers: Provider[] }>
}

export function createProviders({ catalog }: { catalog: Catalog }): ProviderOperations {
  return {
    list: async () => ({ providers: Object.entries(catalog).map(([id, definition]) => shown(id, definition)) }),
  }
}

function shown(id: string, definition: CatalogProvider): Provider {
  const catalogAlias = catalogAliasOf(id, definition)
  return {
    id,
    ...definition,
    name: definition.name ?? id,
    alias: definition.alias ?? catalogAlias,
    catalogAlias,
    format: definition.format ?? 'openai-chat',
    serviceKinds: definition.serviceKinds ?? ['llm'],
    models: definition.models ?? [],
  }
}
