import type { CatalogProvider } from '../types.ts'

/** A provider without its models, which come from catalog.data.ts and catalog.extra.ts. */
export type ProviderDefinition = Omit<CatalogProvider, 'models'>
