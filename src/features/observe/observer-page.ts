import type { MountedPage } from '../../request/door/pages.ts'
import type { GatewayFacts, ObserverPage } from './observer.ts'

/** The page of an observer, protected by its own token if it has one, otherwise like `/api`. */
export const observerPage = (page: ObserverPage, facts: GatewayFacts): MountedPage => ({
  path: page.path,
  hasFolder: false,
  async serve({ exchange, guards }) {
    if (page.token === undefined) await guards.management(exchange)
    else await guards.token(exchange, page.token)
    return page.reply(exchange, facts)
  },
})
