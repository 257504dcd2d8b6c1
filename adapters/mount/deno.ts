import type { DenoRuntime, DenoServer } from '../types/deno.ts'
import type { FetchGateway } from '../types/gateway.ts'
import { guardedFetch } from './lib/guarded-fetch.ts'

export interface ServeDenoOptions {
  /** Default 0: any free port. */
  port?: number
  /** Default 127.0.0.1: this machine only. */
  hostname?: string
  /** Host names that are answered beside IP addresses and `localhost`. Default: none on a loopback address, all on others. */
  allowedHosts?: readonly string[]
}

export interface DenoGatewayServer extends DenoServer {
  readonly url: string
  readonly port: number
  /** Stops accepting, lets answers under way finish for `graceMs` (default 10,000) and then cuts them. Close the gateway afterwards. */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Serves a gateway with `Deno.serve`, and prints nothing. */
export function serveDeno(gateway: FetchGateway, options: ServeDenoOptions = {}): DenoGatewayServer {
  const { port = 0, hostname = '127.0.0.1', allowedHosts } = options
  const { Deno } = globalThis as { Deno?: DenoRuntime } // the runtime's global; its own types are not to be needed
  if (!Deno) throw new TypeError('serveDeno runs in Deno only.')
  const abort = new AbortController()
  const server = Deno.serve(
    { port, hostname, signal: abort.signal, onListen() {} },
    guardedFetch((request) => gateway.fetch(request), { hostname, allowedHosts }),
  )
  const { addr } = server
  return Object.assign(server, {
    port: addr.port,
    url: `http://${addr.hostname.includes(':') ? `[${addr.hostname}]` : addr.hostname}:${addr.port}`,
    async close({ graceMs = 10_000 } = {}) {
      const cut = setTimeout(() => abort.abort(), graceMs)
      await Promise.race([server.shutdown(), server.finished])
      clearTimeout(cut)
    },
  })
}
