import { gatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import { didYouMean, findNearest } from '../../lib/spelling.ts'
import { getAiSdkHint, getPageHint } from './path-hints.ts'
import type { HttpMethod } from './router.ts'

/** The supported paths and methods. */
interface ServedPaths {
  /** The requested path's methods, or `undefined` if no route has this path. */
  methods: ReadonlySet<HttpMethod> | undefined
  /** All paths without parameters. */
  paths: Iterable<string>
}

/**
 * Replies to a request that matches no route: 204 to a probe (`HEAD`, `OPTIONS`) of a path that exists. Otherwise, throws `NOT_FOUND`,
 * `METHOD_NOT_ALLOWED`, or `WEBSOCKETS_NOT_SERVED`.
 */
export function replyWithoutRoute(path: string, exchange: Exchange, { methods, paths }: ServedPaths): Reply {
  const { method } = exchange
  rejectWebSocket(path, exchange)
  if (!methods) {
    const hint = findHint(path, paths)
    throw gatewayError('NOT_FOUND', { message: `${method} ${path} does not exist here.${hint ? ` ${hint}` : ''}` })
  }
  const allowedMethods = [...methods].map((name) => (name === 'GET' ? 'GET, HEAD' : name)).join(', ')
  // Some clients probe an endpoint with `HEAD` before they send a `POST`.
  if (PROBE_METHODS.has(method)) return { status: 204, headers: { allow: `${allowedMethods}, OPTIONS` } }
  throw gatewayError('METHOD_NOT_ALLOWED', {
    message: `${method} is not allowed here. Allowed: ${allowedMethods}.`,
    headers: { allow: allowedMethods },
  })
}

/** Rejects a WebSocket at paths where OpenAI accepts one. Codex tries a WebSocket first, and falls back to HTTP immediately only after a 426. */
function rejectWebSocket(path: string, exchange: Exchange) {
  const hint = SOCKET_HINTS.get(path)
  if (!hint || exchange.method !== 'GET' || !/\bwebsocket\b/i.test(exchange.header('upgrade') ?? '')) return
  throw gatewayError('WEBSOCKETS_NOT_SERVED', {
    message: `WebSockets are not supported here. ${hint}`,
    headers: { connection: 'upgrade', upgrade: 'HTTP/1.1' }, // RFC 9110, 15.5.22
  })
}

const SOCKET_HINTS: ReadonlyMap<string, string> = new Map([
  ['/v1/responses', 'Send the request over HTTP: POST /v1/responses.'],
  ['/v1/realtime', 'Realtime sessions are not supported. Send requests over HTTP, such as POST /v1/responses.'],
])

const PROBE_METHODS: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS'])

/** Returns a sentence that suggests the path that the client probably meant. `servedPaths` contains the paths without parameters. */
function findHint(path: string, servedPaths: Iterable<string>): string | undefined {
  const requestedPath = path.replace(/\/+/g, '/').replace(/\/$/, '')
  if (requestedPath === '/v1')
    return 'This is the base URL for OpenAI clients, which append the rest. GET /v1/models lists the models.'
  const [, doubledPrefix] = /^(\/v1(?:beta)?)\/v1(?:beta)?\//.exec(requestedPath) ?? []
  if (doubledPrefix) return `Remove ${doubledPrefix} from this client's base URL.`
  if (/\/images\/variations$/.test(requestedPath))
    return 'OpenAI retired image variations. Send the image with a prompt to POST /v1/images/edits.'
  const hint = getAiSdkHint(requestedPath) ?? getPageHint(requestedPath)
  if (hint) return hint
  const paths = [...servedPaths]
  const [nearest] = paths.filter((path) => requestedPath.endsWith(path.replace('/v1/', '/'))).sort(compareLengths)
  const candidatePaths = paths.filter((path) => !requestedPath.startsWith(`${path}/`)) // a path under an existing one isn't a misspelling of it
  return didYouMean(nearest ? [nearest] : findNearest(requestedPath, candidatePaths, 1))
}

/** Sorts longer paths first. */
const compareLengths = (a: string, b: string) => b.length - a.length
