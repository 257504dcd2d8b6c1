import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Authenticator, ByteStream, IdentifyContext, Reply, UpstreamFetch } from '../../../src/index.ts'
import { checkOptions } from '../../lib/check-options.ts'
import type { ExchangeGateway } from '../../types/gateway-types.ts'
import { checkGateway } from '../lib/check-gateway.ts'
import { hasLargeUnreadBody, sendBuffered } from './buffered-reply.ts'
import { NodeExchange } from './node-exchange.ts'
import { createNodeFetch, type NodeFetch } from './node-fetch.ts'
import { hasTwoHosts, isHost } from './node-host.ts'
import { pump } from './pump.ts'
import { rejectRequest } from './reject-request.ts'
import { parseTarget } from './request-target.ts'

/** Sends a reply. Its stream is always read to the end or canceled. */
function sendReply(exchange: NodeExchange, req: IncomingMessage, res: ServerResponse, reply: Reply): void {
  const { status, cookies, body } = reply
  const headers = cookies ? { ...reply.headers, 'set-cookie': [...cookies] } : reply.headers
  const hasResponded = res.headersSent || res.writableEnded
  try {
    if (isStream(body) && req.method !== 'HEAD' && !hasResponded) {
      res.writeHead(status, hasLargeUnreadBody(req) ? { ...headers, connection: 'close' } : headers)
      void pump(exchange, res, body)
      return
    }
    exchange.settle()
    if (isStream(body)) body.cancel()
    if (!hasResponded)
      sendBuffered(req, res, isStream(body) || body === undefined ? { status, headers } : { status, headers, body })
  } catch (error) {
    if (isStream(body)) body.cancel(error)
    sendBuffered(req, res, { status: 500, headers: {} }) // the reply has a header that Node can't send
  }
}

const isStream = (body: Reply['body']): body is ByteStream => typeof body === 'object' && 'next' in body

let sharedFetch: NodeFetch | undefined

/** Returns the connections that all handlers in this process share; creates them on the first request. */
function getSharedNodeFetch(): NodeFetch {
  sharedFetch ??= createNodeFetch()
  return sharedFetch
}

/** Options for `toNodeHandler`; all are optional. */
export interface NodeHandlerOptions {
  /**
   * How to call providers if the gateway's `fetch` option isn't set. Default: connections that the entire process shares (`createNodeFetch`);
   * `false`: the platform's `fetch`.
   */
  upstream?: UpstreamFetch | false
  /**
   * Identifies the caller from the framework's request: `(req) => (req.user ? { account: req.user.id } : null)`. Replaces the gateway's `identify`
   * option, and takes the same return values.
   */
  identify?(req: IncomingMessage, about: IdentifyContext): ReturnType<Authenticator['identify']>
}

/** A listener for `node:http`, Connect, and Express. Calls `next` for paths that aren't the gateway's; without `next`, they get a 404. */
export type NodeHandler = (req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => void

/**
 * Serves a gateway on `node:http` and frameworks built on it. With a `basePath`, the gateway sees the entire path (`originalUrl`); without one, only
 * the path below the mount. A body that `express.json()` has parsed is reserialized from `req.body`, where integers beyond 2^53 are already rounded:
 * mount the gateway before body parsers. Throws a TypeError for unknown options.
 */
export function toNodeHandler(gateway: ExchangeGateway, options: NodeHandlerOptions = {}): NodeHandler {
  checkGateway('toNodeHandler', gateway, 'exchange')
  checkOptions(options, { upstream: true, identify: true })
  const upstreamOption: unknown = options.upstream
  if (upstreamOption !== undefined && upstreamOption !== false && typeof upstreamOption !== 'function')
    throw new TypeError('upstream must be a function or false.')
  checkIdentify(options.identify, gateway)
  const upstream = () => (options.upstream === undefined ? getSharedNodeFetch() : options.upstream || undefined)
  return (req, res, next) => {
    const originalTarget = getOriginalTarget(gateway, req)
    const target = parseTarget(originalTarget)
    if (!target) {
      if (next && gateway.basePath && !originalTarget.startsWith(gateway.basePath)) next()
      else
        rejectRequest(
          req,
          res,
          400,
          'The request target must be a path that starts with a single slash. Check whether the base URL ends with a slash.',
        )
      return
    }
    const reason = findRejection(req)
    if (reason && (!next || gateway.matches(target.path))) return rejectRequest(req, res, ...reason)
    const exchange = new NodeExchange(req, res, target, upstream())
    const authenticator = options.identify && {
      identify: (context: IdentifyContext) => options.identify?.(req, context),
    }
    gateway.exchange(exchange, authenticator).then(
      (reply) => {
        if (reply) sendReply(exchange, req, res, reply)
        else if (next) next()
        else sendReply(exchange, req, res, gateway.notFound(exchange))
      },
      () => rejectRequest(req, res, 500, 'Internal server error'), // a gateway never rejects
    )
  }
}

function checkIdentify(identify: unknown, gateway: ExchangeGateway): void {
  if (identify === undefined) return
  if (typeof identify !== 'function') throw new TypeError('identify must be a function.')
  if (gateway.hasFixedAccount)
    throw new TypeError('identify needs the gateway itself: gateway.as() has an account already.')
}

function getOriginalTarget(gateway: ExchangeGateway, req: IncomingMessage & { originalUrl?: string }): string {
  return (gateway.basePath && req.originalUrl) || req.url || '/'
}

function findRejection(req: IncomingMessage): [status: number, error: string] | undefined {
  const { headers, method } = req
  if (headers.host !== undefined && !isHost(headers.host)) return [400, 'The Host header is not a valid host name.']
  if (hasTwoHosts(req)) return [400, 'The request has more than one Host header.']
  if (method === 'TRACE') return [405, 'This path does not support that HTTP method.'] // a Fetch request can't use this method
  return undefined
}
