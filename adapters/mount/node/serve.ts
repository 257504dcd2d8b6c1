import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { checkOptions } from '../../lib/options.ts'
import type { ExchangeGateway } from '../../types/gateway.ts'
import type { ListenOptions } from '../../types/listen.ts'
import { checkGateway } from '../lib/gateway.ts'
import { createHostGuard, hostRefusal } from '../lib/host-guard.ts'
import { awaitContinue } from './continue.ts'
import { type NodeHandlerOptions, toNodeHandler } from './handler.ts'
import { listen } from './listen.ts'
import { refuse } from './refuse.ts'

/** Longer than the minute after which load balancers close idle connections, so that none is closed under a request. */
const KEEP_ALIVE_MS = 65_000
/** How many unsent bytes a client that does not read may have, besides the kernel's buffers. */
const WRITE_AHEAD = 16 * 1024
const DEFAULT_GRACE_MS = 10_000
const SWEEP_MS = 50

/** The options of `serveNode`. */
export interface ServeNodeOptions extends NodeHandlerOptions, ListenOptions {
  /** The advice for a client whose `Host` is refused. Default: to name it in `allowedHosts`. */
  hostAdvice?: string
}

/** The server of `serveNode`. */
export interface NodeServer {
  readonly url: string
  readonly port: number
  /**
   * Stops accepting connections, gives answers under way `graceMs` (ms, default 10,000) to finish, and aborts the rest. The gateway stays
   * open: close it afterwards.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Serves a gateway on a port of its own. Rejects when the port is not available, or an option is unknown. */
export async function serveNode(gateway: ExchangeGateway, options: ServeNodeOptions = {}): Promise<NodeServer> {
  checkGateway('serveNode', gateway, 'exchange')
  checkOptions(options, { port: true, hostname: true, allowedHosts: true, hostAdvice: true, upstream: true })
  const { port = 0, hostname = '127.0.0.1', allowedHosts, hostAdvice, ...handlerOptions } = options
  const isWelcome = createHostGuard(hostname, allowedHosts)
  const handle = toNodeHandler(gateway, handlerOptions)
  let closing: Promise<void> | undefined
  let isClosing = false

  const onRequest = (req: IncomingMessage, res: ServerResponse) => {
    const { host } = req.headers
    if (isClosing) res.setHeader('connection', 'close')
    if (host !== undefined && !isWelcome(host)) refuse(req, res, 403, hostRefusal(host, hostAdvice))
    else handle(req, res)
  }
  const { createServer } = process.getBuiltinModule('node:http') // an import would load Node's own fetch with it, in 50 ms
  // No limit on the time of an answer: streams are long. requestTimeout and headersTimeout bound what a client sends.
  const server = createServer(
    { noDelay: true, keepAlive: true, keepAliveTimeout: KEEP_ALIVE_MS, highWaterMark: WRITE_AHEAD },
    onRequest,
  )
  server.on('checkContinue', (req, res) => {
    awaitContinue(req, res)
    onRequest(req, res)
  })
  const address = await listen(server, port, hostname)
  return {
    ...address,
    close({ graceMs = DEFAULT_GRACE_MS } = {}) {
      isClosing = true
      closing ??= drain(server, graceMs)
      return closing
    },
  }
}

function drain(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
    const cut = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearInterval(sweep)
      clearTimeout(cut)
      resolve()
    })
  })
}
