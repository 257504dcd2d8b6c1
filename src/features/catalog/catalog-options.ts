import type { Catalog } from '../../types.ts'
import type { CatalogOptions } from './live-types.ts'

/** Returns whether the `catalog` option contains refresh options instead of a catalog. */
export const isCatalogOptions = (catalog: Catalog | CatalogOptions): catalog is CatalogOptions =>
  typeof catalog.refresh === 'string' || typeof catalog.refresh === 'function'
