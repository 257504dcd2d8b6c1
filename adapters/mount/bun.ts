import { checkOptions } from '../lib/options.ts'
import type { BunRuntime, BunServer } from '../types/bun.ts'
import type { FetchGateway } from '../types/gateway.ts'
import type { ListenOptions } from '../types/listen.ts'
import { checkGateway } from './lib/gateway.ts'
import { guardedFetch } from './lib/guarded-fetch.ts'

export type { BunServer } from '../types/bun.ts'
export type { FetchGateway } from '../types/gateway.ts'
export type { ListenOptions } from '../types/listen.ts'

/** The options of `serveBun`. */
export type ServeBunOptions = ListenOptions

/** The server of `serveBun`. */
export interface BunGatewayServer extends BunServer {
  /**
   * Stops accepting connections, gives answers under way `graceMs` (ms, default 10,000) to finish, and aborts the rest. Close the gateway
   * afterwards.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/**
 * Serves a gateway with `Bun.serve`, without the idle time-out of 10 s after which Bun would cut a silent stream. A client that leaves
 * within the first 20 ms of its request is noticed up to 20 ms late, as under `Bun.serve(gateway)`.
 */
export function serveBun(gateway: FetchGateway, options: ServeBunOptions = {}): BunGatewayServer {
  checkGateway('serveBun', gateway, 'fetch')
  checkOptions(options, { port: true, hostname: true, allowedHosts: true })
  const { port = 0, hostname = '127.0.0.1', allowedHosts } = options
  const { Bun } = globalThis as { Bun?: BunRuntime } // the runtime's global; its own types are not to be needed
  if (!Bun) throw new TypeError('serveBun runs in Bun only.')
  const server = Bun.serve({
    port,
    hostname,
    idleTimeout: 0,
    development: false,
    reusePort: false, // or Bun, out of development, shares the port with whatever listens on it
    fetch: guardedFetch((...served) => gateway.fetch(...served), { hostname, allowedHosts }),
  })
  return Object.assign(server, {
    async close({ graceMs = 10_000 } = {}) {
      const cut = setTimeout(() => void server.stop(true), graceMs)
      await server.stop()
      clearTimeout(cut)
    },
  })
}
