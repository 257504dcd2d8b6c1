import { type IRequest, Router } from 'itty-router'
import { gatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import type { Caller } from '../caller.ts'
import type { RequestLog, ServedRoute } from '../request-log.ts'

/** The methods that routes can have. `HEAD` is handled like `GET`, without the body, and if there is no `GET`, like `OPTIONS`. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** One line of a route table. `path` is a pattern under the base path: `/api/keys/:id`, `/v1/models/:id+` (the remaining path). */
export interface HttpRoute {
  method: HttpMethod
  path: string
  /** Returns the route's identity for records, given the path parameters, if its requests are recorded. */
  matchEndpoint?(params: Params): EndpointMatch | undefined
  run(request: RoutedRequest): Promise<Reply>
}

/** The parameters of a path, percent-decoded. */
type Params = Readonly<Record<string, string>>

/** An endpoint for model requests, with the model name if it is in the path, or another recorded route. */
export interface EndpointMatch {
  route: Endpoint | ServedRoute
  pathModel?: string
}

/** The input to a route. */
export interface RoutedRequest {
  exchange: Exchange
  params: Params
  endpointMatch?: EndpointMatch | undefined
  caller: Caller
  /** The request's log. Absent if the request isn't recorded. */
  log?: RequestLog | undefined
}

/** The handler for a request to a path. Finding it runs nothing and creates no errors. */
export interface FoundRoute {
  endpointMatch?: EndpointMatch | undefined
  /** Rejects with `NOT_FOUND`, `METHOD_NOT_ALLOWED`, `WEBSOCKETS_NOT_SERVED`, or `INVALID_REQUEST` if no route matches. */
  run(request: Omit<RoutedRequest, 'params' | 'endpointMatch'>): Promise<Reply>
}

/** A route table. The first matching route wins; paths without parameters come before all others. */
export interface HttpRouter {
  /** Returns the route for a path without parameters, if there is one. */
  findExact(exchange: Exchange, path: string): FoundRoute | undefined
  /** Finds the route for any path under the base path by matching patterns. */
  findByPattern(exchange: Exchange, path: string): Promise<FoundRoute>
}

/** Creates the router for a route table. */
export function createRouter(routes: readonly HttpRoute[]): HttpRouter {
  const exactRoutes = new Map<string, Map<string, FoundRoute>>()
  for (const route of routes) {
    const { method, path } = route
    if (path.includes(':')) continue
    exactRoutes.set(
      path,
      (exactRoutes.get(path) ?? new Map<string, FoundRoute>()).set(method, toFoundRoute(route, NO_PARAMS)),
    )
  }
  let patternRouters: ReturnType<typeof createPatternRouters> | undefined // compiled when the first path isn't found by exact match

  return {
    findExact: (exchange, path) => exactRoutes.get(path)?.get(getMethod(exchange)),
    async findByPattern(exchange, path) {
      patternRouters ??= createPatternRouters(routes)
      const { router, methodRouter } = patternRouters
      const method = getMethod(exchange)
      const url = `http://gateway${path}`
      const foundRoute: FoundRoute | undefined = await router.fetch({ method, url })
      if (foundRoute) return foundRoute
      const methods: Set<HttpMethod> | undefined = await methodRouter.fetch({ method, url })
      return {
        async run() {
          const { replyWithoutRoute } = await import('./rare-routes.ts')
          return replyWithoutRoute(path, exchange, { methods, paths: exactRoutes.keys() })
        },
      }
    },
  }
}

const NO_PARAMS: Params = {}

const getMethod = ({ method }: Exchange) => (method === 'HEAD' ? 'GET' : method)

function toFoundRoute({ matchEndpoint, run }: HttpRoute, params: Params): FoundRoute {
  const endpointMatch = matchEndpoint?.(params)
  return {
    endpointMatch,
    run: ({ exchange, caller, log }) => run({ exchange, params, endpointMatch, caller, log }),
  }
}

/** Creates a router that finds routes by pattern, and one that finds a pattern's methods. */
function createPatternRouters(routes: readonly HttpRoute[]) {
  const router = Router<IRequest, [], Promise<FoundRoute> | undefined>()
  const methodsByPath = new Map<string, Set<HttpMethod>>()
  for (const route of routes) {
    const { method, path } = route
    router[lowerCaseMethods[method]](path, async ({ params }) => {
      const decodedParams = decodeParams(params)
      return decodedParams ? toFoundRoute(route, decodedParams) : BADLY_ENCODED_ROUTE
    })
    methodsByPath.set(path, (methodsByPath.get(path) ?? new Set()).add(method))
  }
  const methodRouter = Router<IRequest, [], Set<HttpMethod>>()
  for (const [path, methods] of methodsByPath) methodRouter.all(path, () => methods)
  return { router, methodRouter }
}

const lowerCaseMethods = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
  OPTIONS: 'options',
} as const

function decodeParams(params: Record<string, string>): Params | undefined {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    return undefined
  }
}

const BADLY_ENCODED_ROUTE: FoundRoute = {
  async run() {
    throw gatewayError('INVALID_REQUEST', { message: 'The path is not properly percent-encoded.' })
  },
}
