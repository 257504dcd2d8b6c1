import { type Exchange, isByteStream, type Reply } from '../../lib/exchange.ts'
import type { Authenticator } from '../identity.ts'
import type { AllowedOrigins } from './allowed-origins.ts'

/** A part of the path space that belongs to the gateway, with its own guard and error format. */
export interface Area {
  /** The name of the feature that the area belongs to. */
  readonly name: string
  /** The area's path under the base path, with a leading slash: `/v1`. */
  readonly path: string
  /** Returns whether a path that starts with `path` belongs to the area. Default: `path` itself and everything under it. */
  owns?(path: string): boolean
  /** The methods that pages on `allowedOrigins` may use. If absent, they may not call the area. */
  readonly pageMethods?: readonly string[]
  /** Replies to a request for one of the area's paths. Never rejects. */
  serve(request: AreaRequest): Promise<Reply>
}

/** A request to a path in an area. */
export interface AreaRequest {
  readonly exchange: Exchange
  /** The path under the base path. */
  readonly path: string
  /** Set only by code in this process: identifies the caller instead of the `identify` option. */
  readonly authenticator?: Authenticator | undefined
}

/** Finds the area that contains a path. The path is relative to the base path. */
export function findArea(areas: readonly Area[], path: string): Area | undefined {
  for (const area of areas) {
    const { path: prefix } = area
    if (!path.startsWith(prefix)) continue
    if (area.owns ? area.owns(path) : path.length === prefix.length || path[prefix.length] === '/') return area
  }
  return undefined
}

/** Returns the path relative to the base path, or `undefined` if it isn't under it. */
export function getRelativePath(basePath: string, path: string): string | undefined {
  if (basePath === '') return path
  if (!path.startsWith(basePath)) return undefined
  const relativePath = path.slice(basePath.length)
  return relativePath === '' ? '/' : relativePath.startsWith('/') ? relativePath : undefined
}

/** How long a browser may cache the response to a preflight request, in s: Chromium's maximum. */
const PREFLIGHT_MAX_AGE_S = 7_200

/**
 * Serves a request to an area. Pages on allowed origins may also send requests and read the replies, including errors. Echoes the preflight's header
 * names, because `*` doesn't cover `Authorization` (Fetch standard, CORS protocol). Cookies are only allowed for origins that are listed with
 * `credentials`.
 */
export function serveArea(area: Area, request: AreaRequest, allowedOrigins: AllowedOrigins): Promise<Reply> {
  const { pageMethods: methods } = area
  const origin = methods && request.exchange.header('origin')
  const allowedOrigin = origin === undefined ? undefined : allowedOrigins.get(origin)
  if (!methods || origin === undefined || !allowedOrigin) return area.serve(request)
  return serveForPage(area, request, { origin, methods, ...allowedOrigin })
}

async function serveForPage(
  area: Area,
  request: AreaRequest,
  { origin, methods, hasCredentials }: { origin: string; methods: readonly string[]; hasCredentials: boolean },
): Promise<Reply> {
  const { exchange } = request
  const corsHeaders = {
    'access-control-allow-origin': origin,
    ...(hasCredentials && { 'access-control-allow-credentials': 'true' }),
  }
  if (exchange.method !== 'OPTIONS' || exchange.header('access-control-request-method') === undefined) {
    const reply = await area.serve(request)
    const { vary = 'Origin', ...headers } = reply.headers
    const exposedHeaders = hasCredentials ? Object.keys(headers).join(', ') : '*' // with credentials, `*` would only be a header name
    return { ...reply, headers: { ...headers, ...corsHeaders, vary, 'access-control-expose-headers': exposedHeaders } }
  }
  const headerNames = exchange.header('access-control-request-headers')
  return {
    status: 204,
    headers: {
      ...corsHeaders,
      vary: 'Origin',
      'access-control-allow-methods': methods.join(', '),
      ...(headerNames !== undefined && { 'access-control-allow-headers': headerNames }),
      'access-control-max-age': `${PREFLIGHT_MAX_AGE_S}`,
    },
  }
}

/** Returns the reply to a `HEAD` request, which has no body. */
export function withoutBody({ body, ...head }: Reply): Reply {
  if (isByteStream(body)) body.cancel()
  return head
}
