import type { BuiltInFeature } from '../../feature.ts'
import { createPage, type MountedPage } from '../../request/door/pages.ts'
import type { Pipeline } from '../../request/pipeline.ts'
import type { Catalog, Clock } from '../../types.ts'
import type { GatewayFacts, GatewayObserver, ObserverPage } from './observer.ts'
import type { ListenerOptions } from './observer-listener.ts'

interface ObserverDependencies extends ListenerOptions {
  pipeline: Pick<Pipeline, 'loadRoutes' | 'health'>
  getApi(): Parameters<typeof import('./gateway-facts.ts').getLimitFacts>[0]
  catalog: Catalog
  clock: Pick<Clock, 'now'>
  /** Whether the platform runs many short-lived instances. */
  isOneOfMany: boolean
}

/** Creates a feature for each observer, with a listener and, if the observer has one, a page. */
export function createObservers(
  observers: readonly GatewayObserver[],
  { pipeline, getApi, catalog, clock, isOneOfMany, background, onError }: ObserverDependencies,
): BuiltInFeature[] {
  const facts: GatewayFacts = {
    isOneOfMany,
    targets: async () => {
      const { getTargetFacts } = await import('./gateway-facts.ts')
      return getTargetFacts(await pipeline.loadRoutes(), pipeline.health)
    },
    limits: async () => (await import('./gateway-facts.ts')).getLimitFacts(getApi()),
    catalogAgeMs: async () => (await import('./gateway-facts.ts')).getCatalogAgeMs(catalog, clock),
  }
  return observers.map((observer) => ({
    name: observer.page ? 'metrics' : 'observer',
    loadEvents: async () => {
      const { createObserverListener } = await import('./observer-listener.ts')
      return createObserverListener(observer, { background, onError })
    },
    ...(observer.page && { areas: [observerPage(observer.page, facts)] }),
  }))
}

/** Creates an observer's page. The page's own token protects it or, if it has none, the same rules as for `/api`. */
const observerPage = (page: ObserverPage, facts: GatewayFacts): MountedPage =>
  createPage({
    path: page.path,
    hasFolder: false,
    async serve({ exchange, guards }) {
      if (page.token === undefined) await guards.management(exchange)
      else await guards.token(exchange, page.token)
      return page.reply(exchange, facts)
    },
  })
