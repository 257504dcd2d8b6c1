import type { Catalog } from '../../types.ts'
import type { CatalogOptions } from './live-types.ts'

/** Whether the `catalog` option refreshes the catalog, instead of being one. */
export const isCatalogOptions = (catalog: Catalog | CatalogOptions): catalog is CatalogOptions =>
  typeof catalog.refresh === 'string' || typeof catalog.refresh === 'function'
