import { parseInput } from '../../admin/input.ts'
import { gatewayError } from '../../errors.ts'
import { acceptInput } from './catalog-table.ts'
import type { LiveCatalog } from './live-catalog.ts'
import type { CatalogOperations } from './live-types.ts'

/** Creates the catalog operations. `live` opens the refreshed catalog; it is absent if the catalog isn't refreshed. */
export function createCatalogOperations(
  getLiveCatalog: (() => Promise<LiveCatalog>) | undefined,
): CatalogOperations<unknown> {
  const requireLiveCatalog =
    getLiveCatalog ?? (() => Promise.reject(gatewayError('INVALID_REQUEST', { message: NOT_LIVE_MESSAGE })))
  return {
    review: async () => (getLiveCatalog ? (await getLiveCatalog()).review() : { isLive: false, held: [], applied: [] }),
    refresh: async () => (await requireLiveCatalog()).refresh(),
    accept: async (input = {}) => (await requireLiveCatalog()).accept(parseInput(acceptInput, input)),
    rollback: async () => (await requireLiveCatalog()).rollback(),
  }
}

const NOT_LIVE_MESSAGE =
  'This gateway does not refresh its catalog. Set "catalog" to { refresh: "models.dev" } in its options.'
