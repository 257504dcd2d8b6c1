import { type IRequest, Router } from 'itty-router'
import { gatewayError } from '../errors.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { didYouMean, nearest } from '../lib/spelling.ts'
import type { PresentedKey } from '../store/keyring.ts'

/** The methods that routes are served by; `HEAD` is answered as `GET` without its body, and where there is no `GET` as `OPTIONS`. */
type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** One line of a route table. `path` is a pattern below the base path: `/api/keys/:id`, `/v1/models/:id+` (rest of the path). */
export interface HttpRoute {
  method: HttpMethod
  path: string
  run(request: RoutedRequest): Promise<Reply>
}

/** What a route gets. */
export interface RoutedRequest {
  exchange: Exchange
  /** Percent-decoded. */
  params: Readonly<Record<string, string>>
  /** The client key that the request carried, under `/v1`. */
  key?: PresentedKey | undefined
}

/** Runs the route of a path below the base path. Rejects with `NOT_FOUND` and `METHOD_NOT_ALLOWED`. */
type Dispatch = (path: string, exchange: Exchange, key?: PresentedKey) => Promise<Reply>

/**
 * A route table as one function; the first route that fits wins. Paths without parameters are looked up before any pattern is tried.
 */
export function createRouter(routes: readonly HttpRoute[]): Dispatch {
  const exact = new Map<string, Map<string, HttpRoute>>()
  for (const route of routes) {
    const { method, path } = route
    if (!path.includes(':')) exact.set(path, (exact.get(path) ?? new Map()).set(method, route))
  }
  let patterns: ReturnType<typeof patternsOf> | undefined // made when a path needs them

  async function search(path: string, exchange: Exchange, key?: PresentedKey): Promise<Reply> {
    patterns ??= patternsOf(routes)
    const { router, allowed } = patterns
    const method = methodOf(exchange)
    const url = `http://gateway${path}`
    const reply: Reply | undefined = await router.fetch({ method, url }, exchange, key)
    if (reply) return reply
    const methods: Set<HttpMethod> | undefined = await allowed.fetch({ method, url })
    return withoutRoute(path, exchange, { methods, paths: exact.keys() })
  }

  return (path, exchange, key) => {
    const route = exact.get(path)?.get(methodOf(exchange))
    return route ? route.run({ exchange, params: NO_PARAMS, key }) : search(path, exchange, key)
  }
}

const NO_PARAMS: Readonly<Record<string, string>> = {}

const methodOf = ({ method }: Exchange) => (method === 'HEAD' ? 'GET' : method)

type Handler = (request: IRequest, exchange: Exchange, key?: PresentedKey) => Promise<Reply>

/** The routes by their patterns, and the methods that each pattern has. */
function patternsOf(routes: readonly HttpRoute[]) {
  const router = Router<IRequest, [Exchange, PresentedKey?], Promise<Reply> | undefined>()
  const methodsByPath = new Map<string, Set<HttpMethod>>()
  for (const { method, path, run } of routes) {
    const handler: Handler = (request, exchange, key) => run({ exchange, params: decodeParams(request.params), key })
    router[lowerCase[method]](path, handler)
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

function decodeParams(params: Record<string, string>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]))
  } catch {
    throw gatewayError('INVALID_REQUEST', { message: 'The path is not properly percent-encoded.' })
  }
}

/** What is served. */
interface ServedPaths {
  /** Those of the path that is asked for; `undefined` if no route has it. */
  methods: ReadonlySet<HttpMethod> | undefined
  /** All that have no parameters. */
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
  // Clients probe an endpoint by HEAD before they post to it.
  if (PROBES.has(method)) return { status: 204, headers: { allow: `${allow}, OPTIONS` } }
  throw gatewayError('METHOD_NOT_ALLOWED', {
    message: `${method} is not allowed here; allowed: ${allow}.`,
    headers: { allow },
  })
}

/** Refuses a WebSocket where OpenAI has one. Codex tries one first, and turns to HTTP at once only after a 426. */
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

/** The longest first. */
const byLength = (one: string, other: string) => other.length - one.length
