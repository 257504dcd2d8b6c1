import { type IRequest, Router } from 'itty-router'
import { gatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { didYouMean, nearest } from '../lib/spelling.ts'
import type { RequestLog } from '../pipeline/request-log.ts'
import type { PresentedKey } from '../store/keyring.ts'

/** The methods that routes are served by; `HEAD` is answered as `GET` without its body, and where there is no `GET` as `OPTIONS`. */
type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** One line of a route table. `path` is a pattern below the base path: `/api/keys/:id`, `/v1/models/:id+` (rest of the path). */
export interface HttpRoute {
  method: HttpMethod
  path: string
  /** The endpoint for model requests that the route leads to, by the parameters of the path. */
  servedEndpoint?(params: Params): ServedEndpoint | undefined
  run(request: RoutedRequest): Promise<Reply>
}

/** The parameters of a path, percent-decoded. */
type Params = Readonly<Record<string, string>>

/** An endpoint for model requests, with the model's name where the path has it. */
export interface ServedEndpoint {
  endpoint: Endpoint
  pathModel?: string
}

/** What a route gets. */
export interface RoutedRequest {
  exchange: Exchange
  params: Params
  /** The endpoint for model requests that the path leads to. */
  served?: ServedEndpoint | undefined
  /** The client key that the request carried, under `/v1`. */
  key?: PresentedKey | undefined
  /** Of a request to a model endpoint. */
  log?: RequestLog | undefined
}

/** What answers a request to a path; nothing has been done yet, not even an error is made. */
export interface FoundRoute {
  served?: ServedEndpoint | undefined
  /** Rejects with `NOT_FOUND`, `METHOD_NOT_ALLOWED`, `WEBSOCKETS_NOT_SERVED` or `INVALID_REQUEST` where no route fits. */
  run(request: Omit<RoutedRequest, 'params' | 'served'>): Promise<Reply>
}

/** A route table. The first route that fits wins; paths without parameters come before all others. */
export interface HttpRouter {
  /** The route of a path without parameters, if it has one. */
  exact(exchange: Exchange, path: string): FoundRoute | undefined
  /** The route of any path below the base path, by the patterns. */
  search(exchange: Exchange, path: string): Promise<FoundRoute>
}

/** Makes the router of a route table. */
export function createRouter(routes: readonly HttpRoute[]): HttpRouter {
  const exact = new Map<string, Map<string, FoundRoute>>()
  for (const route of routes) {
    const { method, path } = route
    if (path.includes(':')) continue
    exact.set(path, (exact.get(path) ?? new Map<string, FoundRoute>()).set(method, foundRoute(route, NO_PARAMS)))
  }
  let patterns: ReturnType<typeof patternsOf> | undefined // compiled with the first path that is not found without them

  return {
    exact: (exchange, path) => exact.get(path)?.get(methodOf(exchange)),
    async search(exchange, path) {
      patterns ??= patternsOf(routes)
      const { router, allowed } = patterns
      const method = methodOf(exchange)
      const url = `http://gateway${path}`
      const found: FoundRoute | undefined = await router.fetch({ method, url })
      if (found) return found
      const methods: Set<HttpMethod> | undefined = await allowed.fetch({ method, url })
      return { run: async () => withoutRoute(path, exchange, { methods, paths: exact.keys() }) }
    },
  }
}

const NO_PARAMS: Params = {}

const methodOf = ({ method }: Exchange) => (method === 'HEAD' ? 'GET' : method)

function foundRoute({ servedEndpoint, run }: HttpRoute, params: Params): FoundRoute {
  const served = servedEndpoint?.(params)
  return { served, run: ({ exchange, key, log }) => run({ exchange, params, served, key, log }) }
}

/** The routes by their patterns, and the methods that each pattern has. */
function patternsOf(routes: readonly HttpRoute[]) {
  const router = Router<IRequest, [], Promise<FoundRoute> | undefined>()
  const methodsByPath = new Map<string, Set<HttpMethod>>()
  for (const route of routes) {
    const { method, path } = route
    router[lowerCase[method]](path, async ({ params }) => {
      const decoded = decodedParams(params)
      return decoded ? foundRoute(route, decoded) : BADLY_ENCODED
    })
    methodsByPath.set(path, (methodsByPath.get(path) ?? new Set()).add(method))
  }
  const allowed = Router<IRequest, [], Set<HttpMethod>>()
  for (const [path, methods] of methodsByPath) allowed.all(path, () => methods)
  return { router, allowed }
}

const lowerCase = {
  GET: 'get',
  POST: 'post',
  PUT: 'put',
  PATCH: 'patch',
  DELETE: 'delete',
  OPTIONS: 'options',
} as const

function decodedParams(params: Record<string, string>): Params | undefined {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    return undefined
  }
}

const BADLY_ENCODED: FoundRoute = {
  async run() {
    throw gatewayError('INVALID_REQUEST', { message: 'The path is not properly percent-encoded.' })
  },
}

/** What is served. */
interface ServedPaths {
  /** The methods of the requested path; `undefined` if no route has this path. */
  methods: ReadonlySet<HttpMethod> | undefined
  /** All paths without parameters. */
  paths: Iterable<string>
}

/**
 * The reply to a request that fits no route: 204 to a probe (`HEAD`, `OPTIONS`) of a path that is served. Throws `NOT_FOUND`,
 * `METHOD_NOT_ALLOWED` and `WEBSOCKETS_NOT_SERVED`.
 */
function withoutRoute(path: string, exchange: Exchange, { methods, paths }: ServedPaths): Reply {
  const { method } = exchange
  refuseWebSocket(path, exchange)
  if (!methods) {
    const hint = hintFor(path, paths)
    throw gatewayError('NOT_FOUND', { message: `There is no ${method} ${path} here.${hint ? ` ${hint}` : ''}` })
  }
  const allow = [...methods].map((name) => (name === 'GET' ? 'GET, HEAD' : name)).join(', ')
  // Some clients probe an endpoint by HEAD before they send a POST.
  if (PROBES.has(method)) return { status: 204, headers: { allow: `${allow}, OPTIONS` } }
  throw gatewayError('METHOD_NOT_ALLOWED', {
    message: `${method} is not allowed here; allowed: ${allow}.`,
    headers: { allow },
  })
}

/** Refuses a WebSocket where OpenAI serves one. Codex tries a WebSocket first, and changes to HTTP at once only after a 426. */
function refuseWebSocket(path: string, exchange: Exchange) {
  const advice = SOCKETS.get(path)
  if (!advice || exchange.method !== 'GET' || !/\bwebsocket\b/i.test(exchange.header('upgrade') ?? '')) return
  throw gatewayError('WEBSOCKETS_NOT_SERVED', {
    message: `WebSockets are not served here. ${advice}`,
    headers: { connection: 'upgrade', upgrade: 'HTTP/1.1' }, // RFC 9110, 15.5.22
  })
}

const SOCKETS: ReadonlyMap<string, string> = new Map([
  ['/v1/responses', 'Send the request over HTTP: POST /v1/responses.'],
  ['/v1/realtime', 'There are no realtime sessions; send requests over HTTP, such as POST /v1/responses.'],
])

const PROBES: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS'])

/** A hint for a path that is not served: what was probably meant, as a sentence. `served`: the paths without parameters. */
function hintFor(path: string, served: Iterable<string>): string | undefined {
  const wanted = path.replace(/\/+/g, '/').replace(/\/$/, '')
  if (wanted === '/v1')
    return 'It is the base URL of OpenAI clients, which add the rest. GET /v1/models lists the models.'
  const [, doubled] = /^(\/v1(?:beta)?)\/v1(?:beta)?\//.exec(wanted) ?? []
  if (doubled) return `Leave ${doubled} out of the base URL of this client.`
  const paths = [...served]
  const [meant] = paths.filter((one) => wanted.endsWith(one.replace('/v1/', '/'))).sort(byLength)
  const others = paths.filter((one) => !wanted.startsWith(`${one}/`)) // a path below a served one is not a misspelling of it
  return didYouMean(meant ? [meant] : nearest(wanted, others, 1))
}

/** Sorts longer paths first. */
const byLength = (one: string, other: string) => other.length - one.length
