import { gatewayError } from '../errors.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { nearest } from '../lib/nearest.ts'
import type { Method } from './route.ts'

/** What is served. */
interface Served {
  /** Those of the path that is asked for; `undefined` if no route has it. */
  methods: ReadonlySet<Method> | undefined
  /** All that have no parameters. */
  paths: Iterable<string>
}

/**
 * The reply to a request that fits no route: 204 to a probe (`HEAD`, `OPTIONS`) of a path that is served. Throws `NOT_FOUND`,
 * `METHOD_NOT_ALLOWED` and `WEBSOCKETS_NOT_SERVED`.
 */
export function withoutRoute(path: string, exchange: Exchange, { methods, paths }: Served): Reply {
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
