import type { Socket } from 'node:net'
import type { Agent, buildConnector, Dispatcher } from 'undici'
import type { PendingResponse, UpstreamCall } from '../../../src/index.ts'
import { createConnectionPool } from './connection-pool.ts'
import { waitForTurnEnd } from './turn-end.ts'
import { loadUndici } from './undici.ts'
import { InFlightCall } from './upstream-call.ts'

/** The parts of a URL that a call needs. */
interface ParsedUrl {
  origin: string
  /** The path, including the query. */
  path: string
}

/** Splits a URL into the parts for a connection and a request line. Throws an Error if it isn't an http or https URL. */
function parseUrl(url: string): ParsedUrl | Error {
  const cached = parsedUrls.get(url)
  if (cached) return cached
  if (!/^https?:/i.test(url) || !URL.canParse(url))
    return new TypeError('The upstream URL is not an http or https URL.')
  const { origin, pathname, search } = new URL(url)
  const parsedUrl = { origin, path: pathname + search }
  if (parsedUrls.size >= MAX_PARSED_URLS) parsedUrls.clear() // limited, because paths can contain model names, which clients choose
  parsedUrls.set(url, parsedUrl)
  return parsedUrl
}

/** Caches the parsed URLs of the latest calls, because parsing one takes 2 µs. */
const parsedUrls = new Map<string, ParsedUrl>()

const MAX_PARSED_URLS = 1_000

/** Options for connections to providers. */
export interface EngineOptions {
  /**
   * An undici dispatcher for all calls, such as `new ProxyAgent(url)` or `new EnvHttpProxyAgent()`. Without one, the environment's proxy variables
   * are ignored. Default: the adapter's own connections, one per concurrent call, kept for 60 s.
   */
  dispatcher?: Dispatcher
  /** Options for the adapter's connections: certificates, `localAddress`, `timeout` in ms (default 10,000). */
  connect?: buildConnector.BuildOptions
}

/** Makes calls with undici. */
export interface Engine {
  start(call: UpstreamCall): PendingResponse
  fetch(input: string, init?: RequestInit): Promise<Response>
  close(): void
}

/** How many bytes a provider may send ahead of the reader, in addition to kernel buffers. */
const MAX_READ_AHEAD_BYTES = 8 * 1024

/**
 * Reads from all sockets into one shared block, and copies only the bytes that arrived. By default, Node allocates 64 KiB per read, so a stream whose
 * client doesn't read would hold several such blocks.
 */
const onread = {
  buffer: Buffer.allocUnsafeSlow(MAX_READ_AHEAD_BYTES),
  callback(this: Socket, size: number, buffer: Uint8Array): boolean {
    const copy = Buffer.allocUnsafeSlow(size) // not from Node's pool, because the copy would keep an entire block of it alive
    copy.set(buffer.subarray(0, size))
    return this.push(copy)
  },
}

/** Creates the engine. It is loaded on the first call, because loading undici is slow. */
export async function createEngine({ dispatcher, connect = {} }: EngineOptions): Promise<Engine> {
  const { Client, buildConnector } = await loadUndici()
  const socketOptions = { highWaterMark: MAX_READ_AHEAD_BYTES, onread, ...connect }
  const pool = createConnectionPool({ Client, connect: buildConnector(socketOptions) })
  let agent: Promise<Agent> | undefined

  async function openAgent() {
    const { Agent } = await import('undici')
    return new Agent({ connect })
  }

  return {
    start({ url, method, headers, body = null }) {
      const parsedUrl = parseUrl(url)
      if (parsedUrl instanceof Error) return InFlightCall.failed(parsedUrl)
      const { origin, path } = parsedUrl
      const connection = dispatcher ? undefined : pool.take(origin)
      const call = new InFlightCall(connection)
      const line = dispatcher ?? connection?.client
      const request = { origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }
      void waitForTurnEnd().then(() => call.hasEnded || line?.dispatch(request, call))
      return call
    },
    async fetch(input, init) {
      if (!dispatcher) agent ??= openAgent()
      // Node's `fetch` accepts `dispatcher`, although its types don't include it
      const requestInit: object = { ...init, dispatcher: dispatcher ?? (await agent) }
      return fetch(input, requestInit)
    },
    close() {
      pool.close()
      void agent?.then((opened) => opened.destroy())
    },
  }
}
