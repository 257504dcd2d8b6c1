import { gatewayError } from '../errors.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { GatewayFacts, ObserverPage } from '../pipeline/observing.ts'

/** A page beside the APIs, as an option such as `dashboard` brings it. It answers `GET` and `HEAD`. */
export interface MountedPage {
  /** Below the base path, such as `/admin`. */
  readonly path: string
  /** Are all paths below it its own as well? */
  readonly hasFolder: boolean
  /** Answers a request, after a check by one of `guards` or by a guard of the page's own. */
  serve(request: PageRequest): Promise<Reply>
}

export interface PageRequest {
  readonly exchange: Exchange
  /** The path below the page's own; empty for that itself. */
  readonly rest: string
  readonly guards: PageGuards
}

/** Each throws where a request may not see the page. */
export interface PageGuards {
  /** Accepts requests whose host name `/api` accepts. */
  host(exchange: Exchange): Promise<void>
  /** Accepts requests that may call `/api`. */
  management(exchange: Exchange): Promise<void>
  /** Accepts requests with this token as `Authorization: Bearer`. */
  token(exchange: Exchange, token: string): Promise<void>
}

/** The pages of a gateway, and what they may guard themselves with. */
export interface MountedPages {
  readonly mounted: readonly MountedPage[]
  readonly guards: PageGuards
}

/** The page that a path below the base path belongs to. */
export const pageAt = (pages: readonly MountedPage[], path: string): MountedPage | undefined =>
  pages.find((page) => path === page.path || (page.hasFolder && path.startsWith(`${page.path}/`)))

/** Rejects with `METHOD_NOT_ALLOWED`, and with what the page throws. */
export async function servePage(
  page: MountedPage,
  path: string,
  { exchange, guards }: Omit<PageRequest, 'rest'>,
): Promise<Reply> {
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD')
    throw gatewayError('METHOD_NOT_ALLOWED', {
      message: `${page.path} is a page: use GET, not ${exchange.method}.`,
      headers: { allow: 'GET, HEAD' },
    })
  return page.serve({ exchange, rest: path.slice(page.path.length), guards })
}

/** The page of an observer, behind its own token, or else behind the guard of `/api`. */
export const observerPage = (page: ObserverPage, facts: GatewayFacts): MountedPage => ({
  path: page.path,
  hasFolder: false,
  async serve({ exchange, guards }) {
    if (page.token === undefined) await guards.management(exchange)
    else await guards.token(exchange, page.token)
    return page.reply(exchange, facts)
  },
})
