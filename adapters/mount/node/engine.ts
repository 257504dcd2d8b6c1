import { Agent, buildConnector, type Dispatcher } from 'undici'
import type { PendingAnswer, UpstreamCall } from '../../../src/index.ts'
import { addressOf } from './address.ts'
import { createLanes } from './lanes.ts'
import { turnEnd } from './turn.ts'
import { UpstreamCallUnderWay } from './upstream-call.ts'

/** How connections to upstreams are made. */
export interface EngineOptions {
  /**
   * An undici dispatcher that all calls go through, such as `new ProxyAgent(url)` or `new EnvHttpProxyAgent()`: without one the
   * proxy variables of the environment are not looked at. Default: own connections, kept for 60 s, as many as there are calls.
   */
  dispatcher?: Dispatcher
  /** How own connections are made: certificates, `localAddress`, `timeout` in ms (default 10,000). */
  connect?: buildConnector.BuildOptions
}

/** Calls upstreams over undici. */
export interface Engine {
  start(call: UpstreamCall): PendingAnswer
  fetch(input: string, init?: RequestInit): Promise<Response>
  close(): void
}

/** How much an upstream may send ahead of its reader, beside what the kernel holds. */
const READ_AHEAD = 16 * 1024

/** What calls upstreams. All that needs undici is behind it, to be loaded with the first call: that takes a tenth of a second. */
export function createEngine({ dispatcher, connect = {} }: EngineOptions): Engine {
  const socketOptions = { highWaterMark: READ_AHEAD, ...connect }
  const lanes = createLanes(buildConnector(socketOptions))
  let agent: Agent | undefined

  return {
    start({ url, method, headers, body = null }) {
      const address = addressOf(url)
      if (address instanceof Error) return UpstreamCallUnderWay.failed(address)
      const { origin, path } = address
      const lane = dispatcher ? undefined : lanes.take(origin)
      const call = new UpstreamCallUnderWay(lane)
      const line = dispatcher ?? lane?.client
      const request = { origin, path, method, headers, body, headersTimeout: 0, bodyTimeout: 0 }
      void turnEnd().then(() => call.isOver || line?.dispatch(request, call))
      return call
    },
    fetch(input, init) {
      agent ??= dispatcher ? undefined : new Agent({ connect })
      const through: object = { ...init, dispatcher: dispatcher ?? agent } // Node's fetch takes it, its types do not know it
      return fetch(input, through)
    },
    close() {
      lanes.close()
      void agent?.destroy()
    },
  }
}
