import { gatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'

/** A page served next to the APIs, such as the `dashboard` option. Responds to `GET` and `HEAD`. */
export interface MountedPage {
  /** Path under the base path, such as `/admin`. */
  readonly path: string
  /** Whether all paths below it belong to it, too. */
  readonly hasFolder: boolean
  /** Responds to a request after a check by one of the `guards` or by its own. */
  serve(request: PageRequest): Promise<Reply>
}

export interface PageRequest {
  readonly exchange: Exchange
  /** The path relative to the page; empty for the page itself. */
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

/** Rejects with `METHOD_NOT_ALLOWED`, and with what the page throws. */
export async function servePage(
  page: MountedPage,
  path: string,
  { exchange, guards }: Omit<PageRequest, 'rest'>,
): Promise<Reply> {
  if (exchange.method !== 'GET' && exchange.method !== 'HEAD')
    throw gatewayError('METHOD_NOT_ALLOWED', {
      message: `${page.path} is a web page. Use GET, not ${exchange.method}.`,
      headers: { allow: 'GET, HEAD' },
    })
  return page.serve({ exchange, rest: path.slice(page.path.length), guards })
}
