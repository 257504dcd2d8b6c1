import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { ExchangeGateway } from '../../types/gateway-types.ts'
import { createHostGuard, getHostRejection } from '../lib/host-guard.ts'
import { awaitContinue } from './continue.ts'
import { type NodeHandlerOptions, toNodeHandler } from './handler.ts'
import { hasTwoHosts } from './node-host.ts'
import { MAX_WRITE_AHEAD_BYTES } from './pump.ts'
import { rejectRequest } from './reject-request.ts'

/**
 * How long to keep an idle connection, in ms. Load balancers close theirs after a minute, so the server never closes one while a request is in
 * transit.
 */
const KEEP_ALIVE_MS = 65_000

/** The options for a gateway's server, and the functions that it calls before the gateway. */
export interface GatewayServerOptions extends NodeHandlerOptions {
  hostname: string
  allowedHosts?: readonly string[] | undefined
  /** The advice in the response to a client whose `Host` is rejected. */
  hostAdvice?: string
  /** Called first with each request. Returns true if this function sent the response. */
  before(req: IncomingMessage, res: ServerResponse): boolean
}

/** Creates a `node:http` server that passes requests with an allowed `Host` to the gateway. It isn't listening yet. */
export function createGatewayServer(
  gateway: ExchangeGateway,
  { hostname, allowedHosts, hostAdvice, before, ...handlerOptions }: GatewayServerOptions,
): Server {
  const isAllowedHost = createHostGuard(hostname, allowedHosts)
  const handle = toNodeHandler(gateway, handlerOptions)

  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    if (before(req, res)) return
    const { host } = req.headers
    if (host !== undefined && !isAllowedHost(host) && !hasTwoHosts(req))
      rejectRequest(req, res, 403, getHostRejection(host, hostAdvice))
    else handle(req, res)
  }
  const { createServer } = process.getBuiltinModule('node:http') // importing this module would also load Node's own `fetch`, which takes 50 ms
  // Responses have no time limit, because streams can be long. `requestTimeout` and `headersTimeout` limit the request.
  const server = createServer(
    { noDelay: true, keepAlive: true, keepAliveTimeout: KEEP_ALIVE_MS, highWaterMark: MAX_WRITE_AHEAD_BYTES },
    onRequest,
  )
  server.on('checkContinue', (req, res) => {
    awaitContinue(req, res)
    onRequest(req, res)
  })
  return server
}
