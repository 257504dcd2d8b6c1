import { checkOptions } from '../lib/options.ts'
import type { DenoRuntime, DenoServer } from '../types/deno.ts'
import type { FetchGateway } from '../types/gateway.ts'
import type { ListenOptions } from '../types/listen.ts'
import { checkGateway } from './lib/gateway.ts'
import { guardedFetch } from './lib/guarded-fetch.ts'
import { refusal } from './lib/refusal.ts'

export type { DenoServer } from '../types/deno.ts'
export type { FetchGateway } from '../types/gateway.ts'
export type { ListenOptions } from '../types/listen.ts'

/** The options of `serveDeno`. */
export type ServeDenoOptions = ListenOptions

/** The server of `serveDeno`. */
export interface DenoGatewayServer extends DenoServer {
  readonly url: string
  readonly port: number
  /**
   * Answers new requests with 503, gives answers under way `graceMs` (ms, default 10,000) to finish, and aborts the rest. Close the gateway
   * afterwards.
   */
  close(options?: { graceMs?: number }): Promise<void>
}

/** Serves a gateway with `Deno.serve`, without its message on the console. */
export function serveDeno(gateway: FetchGateway, options: ServeDenoOptions = {}): DenoGatewayServer {
  checkGateway('serveDeno', gateway, 'fetch')
  checkOptions(options, { port: true, hostname: true, allowedHosts: true })
  const { port = 0, hostname = '127.0.0.1', allowedHosts } = options
  const { Deno } = globalThis as { Deno?: DenoRuntime } // the runtime's global; its own types are not to be needed
  if (!Deno) throw new TypeError('serveDeno runs in Deno only.')
  const fetch = guardedFetch((request) => gateway.fetch(request), { hostname, allowedHosts })
  const underWay = new Set<Promise<void>>()
  const abort = new AbortController()
  let isClosing = false

  const server = Deno.serve({ port, hostname, signal: abort.signal, onListen() {} }, async (request, { completed }) => {
    if (isClosing) return refusal(503, 'The gateway is shutting down.')
    const done = completed.catch(() => {}) // a client that left is as good as answered
    underWay.add(done)
    void done.then(() => underWay.delete(done))
    return fetch(request)
  })

  return Object.assign(server, {
    port: server.addr.port,
    url: urlOf(server.addr),
    // Not by `shutdown()`: a server that shuts down can no longer be told to cut what takes too long.
    async close({ graceMs = 10_000 } = {}) {
      isClosing = true
      let timer: ReturnType<typeof setTimeout> | undefined
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, graceMs)
      })
      await Promise.race([Promise.all(underWay), late])
      clearTimeout(timer)
      abort.abort()
      await server.finished
    },
  })
}

const urlOf = ({ hostname, port }: DenoServer['addr']): string =>
  `http://${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
