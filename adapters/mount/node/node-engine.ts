import type { Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import type { PendingResponse, UpstreamCall } from '../../../src/index.ts'
import { createConnectionPool } from './connection-pool.ts'
import { turnEnd } from './turn.ts'
import { loadUndici } from './undici.ts'
import { UpstreamCallUnderWay } from './upstream-call.ts'

/** The parts of a URL that a call needs. */
interface Address {
  origin: string
  /** Includes the query. */
  path: string
}

/** Splits a URL for a connection and a request line. Throws an Error unless it is http or https. */
function parseAddress(url: string): Address | Error {
  const known = addresses.get(url)
  if (known) return known
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    return new TypeError('The upstream URL is not an http or https URL.')
  const { origin, pathname, search } = new URL(url)
  const address = { origin, path: pathname + search }
  if (addresses.size >= MAX_ADDRESSES) addresses.clear() // clients choose model names, which may be in the path
  addresses.set(url, address)
  return address
}

/** The addresses of the latest calls: parsing one takes 2 µs. */
const addresses = new Map<string, Address>()

const MAX_ADDRESSES = 1_000

/** Options of connections to providers. */
export interface EngineOptions {
  /**
   * An undici dispatcher for all calls, such as `new ProxyAgent(url)` or `new EnvHttpProxyAgent()`; without one the proxy variables of the
   * environment are ignored. Default: own connections, as many as there are calls, kept for 60 s.
   */
  dispatcher?: Dispatcher
  /** Options of the adapter's connections: certificates, `localAddress`, `timeout` in ms (default 10,000). */
  connect?: buildConnector.BuildOptions
}

/** Makes calls with undici. */
export interface Engine {
  start(call: UpstreamCall): PendingResponse
  fetch(input: string, init?: RequestInit): Promise<Response>
  close(): void
}

/** How many bytes a provider may send ahead of the reader, plus the kernel's buffers. */
const READ_AHEAD = 8 * 1024

/**
 * Reads from all sockets into one shared block, and copies only the bytes that arrived. Node would allocate 64 KiB for each read, and a
 * stream that its client does not read holds several of them.
 */
const onread = {
  buffer: Buffer.allocUnsafeSlow(READ_AHEAD),
  callback(this: Socket, size: number, buffer: Uint8Array): boolean {
    const copy = Buffer.allocUnsafeSlow(size) // not from Node's pool, since the copy would keep a whole block of it
    copy.set(buffer.subarray(0, size))
    return this.push(copy)
  },
}

/** Creates the engine. Loaded with the first call, because loading undici is slow. */
export async function createEngine({ dispatcher, connect = {} }: EngineOptions): Promise<Engine> {
  const { Client, buildConnector } = await loadUndici()
  const socketOptions = { highWaterMark: READ_AHEAD, onread, ...connect }
  const pool = createConnectionPool({ Client, connect: buildConnector(socketOptions) })
  let agent: Promise<Agent> | undefined

  async function openAgent() {
    const { Agent } = await import('undici')
    return new Agent({ connect })
  }

  return {
    start({ url, method, headers, body = null }) {
      const address = parseAddress(url)
      if (address instanceof Error) return UpstreamCallUnderWay.failed(address)
      const { origin, path } = address
      const connection = dispatcher ? undefined : pool.take(origin)
      const call = new UpstreamCallUnderWay(connection)
      const line = dispatcher ?? connection?.client
      const request = { origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }
      void turnEnd().then(() => call.isOver || line?.dispatch(request, call))
      return call
    },
    async fetch(input, init) {
      if (!dispatcher) agent ??= openAgent()
      // Node's fetch accepts `dispatcher`, though its types do not have it
      const requestInit: object = { ...init, dispatcher: dispatcher ?? (await agent) }
      return fetch(input, requestInit)
    },
    close() {
      pool.close()
      void agent?.then((opened) => opened.destroy())
    },
  }
}
