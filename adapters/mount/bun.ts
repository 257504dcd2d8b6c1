import { checkOptions } from '../lib/check-options.ts'
import type { FetchGateway } from '../types/gateway-types.ts'
import type { ListenOptions } from '../types/listen.ts'
import type { BunRuntime, BunServer } from '../types/runtimes.ts'
import { checkGateway } from './lib/check-gateway.ts'
import { createHostGuard, getHostRejection } from './lib/host-guard.ts'
import { createRejection } from './lib/rejection.ts'

/** The runtime passes `server` in addition to the request. */
type Fetch = (request: Request, server?: unknown) => Promise<Response>

interface GuardedFetchOptions {
  /** The address that the server listens on. */
  hostname: string
  allowedHosts: readonly string[] | undefined
}

/** Returns a fetch handler that rejects requests whose `Host` isn't allowed (`createHostGuard`). */
function createGuardedFetch(fetch: Fetch, { hostname, allowedHosts }: GuardedFetchOptions): Fetch {
  const isAllowedHost = createHostGuard(hostname, allowedHosts)
  return async (request, server) => {
    const host = request.headers.get('host')
    const isOne = host !== null && !host.includes(',') // the gateway rejects a header with several hosts as malformed
    if (!isOne || isAllowedHost(host)) return fetch(request, server)
    return createRejection(403, getHostRejection(host))
  }
}

export type { FetchGateway } from '../types/gateway-types.ts'
export type { ListenOptions } from '../types/listen.ts'
export type { BunServer } from '../types/runtimes.ts'

/** Options for `serveBun`. */
export type ServeBunOptions = ListenOptions

/** The server that `serveBun` returns. */
export interface BunGatewayServer extends BunServer {
  /** Stops accepting connections, gives in-flight responses `graceMs` (ms, default 10,000) to finish, and aborts the rest. Close the gateway afterward. */
  close(options?: { graceMs?: number }): Promise<void>
}

/**
 * Serves a gateway with `Bun.serve`, without Bun's 10 s idle timeout, which would cut off silent streams. If a client disconnects within the first
 * 20 ms of its request, the gateway learns of it up to 20 ms late, as with `Bun.serve(gateway)`.
 */
export function serveBun(gateway: FetchGateway, options: ServeBunOptions = {}): BunGatewayServer {
  checkGateway('serveBun', gateway, 'fetch')
  checkOptions(options, { port: true, hostname: true, allowedHosts: true })
  const { port = 0, hostname = '127.0.0.1', allowedHosts } = options
  const { Bun } = globalThis as { Bun?: BunRuntime } // only Bun has this global; typed here, so users don't need to install its types
  if (!Bun) throw new TypeError('serveBun only runs in Bun.')
  const server = Bun.serve({
    port,
    hostname,
    idleTimeout: 0,
    development: false,
    reusePort: false, // otherwise, Bun in production would share the port with a process that already listens on it
    fetch: createGuardedFetch((...served) => gateway.fetch(...served), { hostname, allowedHosts }),
  })
  return Object.assign(server, {
    async close({ graceMs = 10_000 } = {}) {
      const cut = setTimeout(() => void server.stop(true), graceMs)
      await server.stop()
      clearTimeout(cut)
    },
  })
}
