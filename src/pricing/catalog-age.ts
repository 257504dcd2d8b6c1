import type { Catalog } from '../types.ts'

/** How current the prices are. */
export interface CatalogAge {
  /** The date of the newest prices, `YYYY-MM-DD`. Absent if the catalog doesn't say. */
  asOf?: string
  /** Whether they were refreshed since the gateway's release. */
  isLive: boolean
}

/** Returns the date of the newest prices. */
export function getCatalogAge(catalog: Catalog): CatalogAge {
  const providers = Object.values(catalog)
  const liveProviders = providers.filter(({ isLive }) => isLive)
  const dates = (liveProviders.length > 0 ? liveProviders : providers).flatMap(({ asOf }) => asOf ?? [])
  const asOf = dates.sort().at(-1)
  return { ...(asOf !== undefined && { asOf }), isLive: liveProviders.length > 0 }
}
