import type { BuiltInFeature } from '../../feature.ts'
import type { Exchange, UpstreamFetch } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import type { Pipeline } from '../../request/pipeline.ts'
import type { Kind, ModelEntry } from '../../types.ts'
import type { AccessFeature } from '../access/access-feature.ts'
import type { ListingDependencies } from './listing.ts'
import { createListingRoutes } from './listing-routes.ts'
import type { LookupCache } from './model-lookup.ts'

interface ListingFeatureDependencies extends Pick<ListingDependencies, 'store' | 'catalog' | 'clock' | 'onError'> {
  pipeline: Pick<Pipeline, 'loadRoutes'>
  access: Pick<AccessFeature, 'getAccess'>
  limits: { lookupTimeoutMs: number }
  /** Returns the function that calls providers for a request. */
  upstream(exchange?: Exchange): UpstreamFetch
}

/** Lists models for clients. Its code loads on the first list request. */
export interface ListingFeature extends BuiltInFeature {
  /** Lists the models of the given kinds that clients can request. Lists that share `cache` query each provider once. */
  listPublished(kinds: readonly Kind[], cache?: LookupCache): Promise<ModelEntry[]>
}

export function createListingFeature({
  pipeline,
  access,
  upstream,
  limits: { lookupTimeoutMs },
  ...deps
}: ListingFeatureDependencies): ListingFeature {
  const listing = once(async () => {
    const { createListing } = await import('./listing.ts')
    const { store, catalog, clock, onError } = deps
    const findTargets = async (model: string) => (await pipeline.loadRoutes()).findTargets(model)
    return createListing({ store, catalog, clock, onError, findTargets, lookupTimeoutMs })
  })

  return {
    name: 'listing',
    routes: createListingRoutes({
      listing,
      upstream,
      async getReader(caller) {
        const callerAccess = await access.getAccess(caller)
        if (!callerAccess) return undefined
        const table = await pipeline.loadRoutes()
        return {
          allowsKind: (kind) => callerAccess.allowsKind(kind),
          allowsModel: (model) => callerAccess.allowsModel(model, table),
        }
      },
    }),
    listPublished: async (kinds, cache) => (await listing()).list(kinds, upstream(), cache && { cache }),
  }
}
