import { gatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'

/** A page served next to the APIs, such as the `dashboard` option. Responds to `GET` and `HEAD`. */
export interface MountedPage {
  /** Path under the base path, such as `/admin`. */
  readonly path: string
  /** Whether all paths under the page's path also belong to the page. */
  readonly hasFolder: boolean
  /** Responds to a request. Check the request first, with one of the `guards` or with your own check. */
  serve(request: PageRequest): Promise<Reply>
}

export interface PageRequest {
  readonly exchange: Exchange
  /** The path relative to the page. Empty for the page itself. */
  readonly rest: string
  readonly guards: PageGuards
}

/** Checks for pages. Each one throws if the request may not see the page. */
export interface PageGuards {
  /** Accepts requests with host names that `/api` accepts. */
  host(exchange: Exchange): Promise<void>
  /** Accepts requests that are allowed to call `/api`. */
  management(exchange: Exchange): Promise<void>
  /** Accepts requests with this token as `Authorization: Bearer`. */
  token(exchange: Exchange, token: string): Promise<void>
}

/** Creates a page's area, which responds to methods other than `GET` and `HEAD` with `METHOD_NOT_ALLOWED`. */
export const createPage = ({ path, hasFolder, serve }: MountedPage): MountedPage => ({
  path,
  hasFolder,
  async serve(request) {
    const { method } = request.exchange
    if (method !== 'GET' && method !== 'HEAD')
      throw gatewayError('METHOD_NOT_ALLOWED', {
        message: `${path} is a web page. Use GET, not ${method}.`,
        headers: { allow: 'GET, HEAD' },
      })
    return serve(request)
  },
})
