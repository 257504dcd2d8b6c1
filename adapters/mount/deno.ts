import type { Server } from 'node:http'
import { checkOptions } from '../lib/check-options.ts'
import type { ExchangeGateway } from '../types/gateway-types.ts'
import type { ListenOptions } from '../types/listen.ts'
import type { DenoRuntime, DenoServer } from '../types/runtimes.ts'
import { checkGateway } from './lib/check-gateway.ts'
import { rejectRequest } from './node/reject-request.ts'
import { createGatewayServer } from './node/server.ts'

export type { ExchangeGateway } from '../types/gateway-types.ts'
export type { ListenOptions } from '../types/listen.ts'
export type { DenoServer } from '../types/runtimes.ts'

/** Options for `serveDeno`. */
export type ServeDenoOptions = ListenOptions

/** The server that `serveDeno` returns. */
export interface DenoGatewayServer extends DenoServer {
  readonly url: string
  readonly port: number
  /**
   * Responds to new requests with a 503, gives in-flight responses `graceMs` (ms, default 10,000) to finish, and aborts the rest. Close the gateway
   * afterward.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/**
 * Serves a gateway with Deno's `node:http`. In Deno 2.9, `Deno.serve` doesn't abort a request's signal if the body came in a separate packet and the
 * client disconnects before the response starts, so the provider call would continue.
 */
export function serveDeno(gateway: ExchangeGateway, options: ServeDenoOptions = {}): DenoGatewayServer {
  checkGateway('serveDeno', gateway, 'exchange')
  checkOptions(options, { port: true, hostname: true, allowedHosts: true })
  const { port = 0, hostname = '127.0.0.1', allowedHosts } = options
  const { Deno } = globalThis as { Deno?: DenoRuntime } // only Deno has this global; typed here, so users don't need to install its types
  if (!Deno) throw new TypeError('serveDeno only runs in Deno.')
  const inFlight = new Set<Promise<void>>()
  let closing: Promise<void> | undefined

  const server = createGatewayServer(gateway, {
    hostname,
    allowedHosts,
    upstream: false, // uses Deno's own `fetch`
    before(req, res) {
      if (closing !== undefined) {
        res.setHeader('connection', 'close')
        rejectRequest(req, res, 503, 'The gateway is shutting down.')
        return true
      }
      const done = new Promise<void>((resolve) => res.once('close', resolve)) // also emitted when the client disconnects
      inFlight.add(done)
      void done.then(() => inFlight.delete(done))
      return false
    },
  })
  const finished = new Promise<void>((resolve, reject) => {
    server.once('close', resolve)
    server.once('error', reject)
  })
  const addr = listenNow(server, Deno, { port, hostname })

  async function drain(graceMs: number) {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([Promise.all(inFlight), late])
    clearTimeout(timer)
    server.close()
    server.closeAllConnections()
    await finished
  }

  return {
    addr,
    finished,
    port: addr.port,
    url: formatUrl(addr),
    close({ graceMs = 10_000 } = {}) {
      closing ??= drain(graceMs)
      return closing
    },
  }
}

/** `_listen2` is `listen` without the DNS lookup, which costs a turn of the event loop. Node keeps it for older code. */
type InternalServer = Server & { _listen2?: (address: string, port: number, family: 4 | 6, backlog: number) => void }

const BACKLOG = 511

/**
 * Starts listening before it returns, so a request sent immediately afterward reaches the server. First opens and closes Deno's own listener,
 * which resolves the host name, chooses the port, and throws if the port isn't available.
 */
function listenNow(
  server: InternalServer,
  Deno: DenoRuntime,
  address: { port: number; hostname: string },
): DenoServer['addr'] {
  const listener = Deno.listen(address)
  const { hostname, port } = listener.addr
  listener.close()
  server._listen2?.(hostname, port, hostname.includes(':') ? 6 : 4, BACKLOG)
  if (!server.listening) server.listen(port, hostname)
  return { hostname, port }
}

const formatUrl = ({ hostname, port }: DenoServer['addr']): string =>
  `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
