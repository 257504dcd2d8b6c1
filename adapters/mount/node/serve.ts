import type { Server } from 'node:http'
import { checkOptions } from '../../lib/options.ts'
import type { ExchangeGateway } from '../../types/gateway.ts'
import type { ListenOptions } from '../../types/listen.ts'
import { checkGateway } from '../lib/gateway.ts'
import type { NodeHandlerOptions } from './handler.ts'
import { listen } from './listen.ts'
import { createGatewayServer } from './server.ts'

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
  const { port = 0, hostname = '127.0.0.1', allowedHosts, ...handlerOptions } = options
  let closing: Promise<void> | undefined
  let isClosing = false

  const server = createGatewayServer(gateway, {
    ...handlerOptions,
    hostname,
    allowedHosts,
    before(_, res) {
      if (isClosing) res.setHeader('connection', 'close')
      return false
    },
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
