import { once } from '../lib/once.ts'
import type { Listing, ListingDeps } from './listing.ts'

/** The listing, loaded with its first use: most requests are for a model. */
export function deferredListing(deps: ListingDeps): Listing {
  const load = once(async () => {
    const { createListing } = await import('./listing.ts')
    return createListing(deps)
  })
  return { list: async (...request) => (await load()).list(...request) }
}
