import type { BuiltInFeature } from '../../feature.ts'
import { type Background, once } from '../../lib/promises.ts'
import type { RequestListener } from '../../request/request-events.ts'
import type { LiveCatalog, LiveCatalogDependencies } from './live-catalog.ts'

interface CatalogFeatureDependencies extends Omit<LiveCatalogDependencies, 'options' | 'base'> {
  /** The refresh options. Absent if the catalog isn't refreshed. */
  liveCatalog: Pick<LiveCatalogDependencies, 'options' | 'base'> | undefined
  background: Background
}

/** The feature that refreshes the catalog. Its code loads with the first request, and only if the `catalog` option has `refresh`. */
export function createCatalogFeature({ liveCatalog, ...deps }: CatalogFeatureDependencies) {
  if (!liveCatalog) return {}
  let openedCatalog: LiveCatalog | undefined
  const getLiveCatalog = once(async () => {
    const { openLiveCatalog } = await import('./live-catalog.ts')
    openedCatalog = await openLiveCatalog({ ...deps, ...liveCatalog })
    return openedCatalog
  })
  const events: RequestListener = {
    ended: ({ waitUntil }) => openedCatalog && deps.background.run(openedCatalog.tick(), waitUntil),
  }
  const feature: BuiltInFeature = {
    name: 'catalog',
    async aroundRequest(_, next) {
      await getLiveCatalog()
      return next()
    },
    events,
    close: () => openedCatalog?.close(),
  }
  return { feature, live: getLiveCatalog }
}
