import type { Server } from 'node:http'
import { checkOptions } from '../../lib/check-options.ts'
import type { ExchangeGateway } from '../../types/gateway-types.ts'
import type { ListenOptions } from '../../types/listen.ts'
import { checkGateway } from '../lib/check-gateway.ts'
import type { NodeHandlerOptions } from './handler.ts'
import { createGatewayServer } from './server.ts'

const reasons: Record<string, string> = {
  EADDRINUSE: 'is already in use. Choose another port, or 0 for any free one.',
  EACCES: 'cannot be opened by this user. Choose a port above 1023.',
  EADDRNOTAVAIL: 'cannot be opened because the address does not belong to this machine.',
}

/** Starts listening. Resolves to the address. Rejects with a message that explains what is wrong, and with the `code` of Node's error. */
function listen(server: Server, port: number, hostname: string): Promise<{ url: string; port: number }> {
  return new Promise((resolve, reject) => {
    // Node would treat a string that isn't a number as the path of a Unix socket.
    if (!/^\d{1,5}$/.test(`${port}`) || port > 65_535)
      throw new TypeError('port must be a whole number from 0 to 65535, 0 for any free one.')
    server.once('error', (error: NodeJS.ErrnoException) => reject(createListenError(error, port, hostname)))
    server.listen(port, hostname, () => {
      const address = server.address()
      const bound = typeof address === 'object' && address ? address.port : port
      resolve({ port: bound, url: `http://${toReachableHost(hostname)}:${bound}` })
    })
  })
}

function createListenError(error: NodeJS.ErrnoException, port: number, hostname: string): Error {
  const reason = reasons[error.code ?? '']
  if (!reason) return error
  return Object.assign(new Error(`Port ${port} on ${hostname} ${reason}`, { cause: error }), { code: error.code })
}

/** Returns a host name at which this machine can reach a server on `hostname`. */
function toReachableHost(hostname: string): string {
  if (hostname === '0.0.0.0' || hostname === '::') return 'localhost'
  return hostname.includes(':') ? `[${hostname}]` : hostname
}

const DEFAULT_GRACE_MS = 10_000
const SWEEP_MS = 50

/** Options for `serveNode`. */
export interface ServeNodeOptions extends NodeHandlerOptions, ListenOptions {
  /** The advice in the response to a client whose `Host` is rejected. Default: add the host to `allowedHosts`. */
  hostAdvice?: string
}

/** The server that `serveNode` starts. */
export interface NodeServer {
  readonly url: string
  readonly port: number
  /**
   * Stops accepting connections, gives in-flight responses `graceMs` (ms, default 10,000) to finish, and aborts the rest. The gateway stays open:
   * close it afterward.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Serves a gateway on its own port. Rejects if the port isn't available, or an option is unknown. */
export async function serveNode(gateway: ExchangeGateway, options: ServeNodeOptions = {}): Promise<NodeServer> {
  checkGateway('serveNode', gateway, 'exchange')
  checkOptions(options, {
    port: true,
    hostname: true,
    allowedHosts: true,
    hostAdvice: true,
    upstream: true,
    identify: true,
  })
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
    const timer = setInterval(() => server.closeIdleConnections(), SWEEP_MS)
    const cut = setTimeout(() => server.closeAllConnections(), graceMs)
    server.close(() => {
      clearInterval(timer)
      clearTimeout(cut)
      resolve()
    })
  })
}
