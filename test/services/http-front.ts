import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a front does with a request instead of responding normally. */
export type Fault =
  | 'cut before' // closes the connection without running the request
  | 'cut after' // runs the request, and closes the connection
  | 'cut within' // runs the request, and closes the connection in the middle of the response
  | 'stall' // runs the request, and never responds
  | 'twice' // runs the request twice, as if a proxy had retried it, and sends the second response
  | 'busy' // sends a 429
  | 'error' // sends a 500 with a web page
  | 'down' // sends a 503
  | 'html' // sends a 200 with a web page, like a login page from a proxy
  | 'slow' // responds after `SLOW_MS`, like a sleeping database

/** The duration of a slow request, in ms. */
export const SLOW_MS = 2_000

export interface FrontReply {
  status: number
  body: string
  headers?: Record<string, string>
}

/** A fake service that is called over HTTP, and the faults of its network. */
export interface Front {
  url: string
  /** The number of requests so far. */
  requests: number
  /** The faults for the next requests, one per request. `undefined` means none. */
  faults: Array<Fault | undefined>
  /** The duration of each request, in ms. */
  delayMs: number
  /** The number of sequential round trips so far. Concurrent requests count as one. */
  roundTrips: number
  close(): Promise<void>
}

/** Starts a service on loopback that handles requests with `respond`. */
export async function startFront(
  respond: (request: IncomingMessage, body: string) => Promise<FrontReply> | FrontReply,
): Promise<Front> {
  const server = createServer(async (request, response) => {
    const roundTrip = front.roundTrips + 1
    front.requests++
    const fault = front.faults.shift()
    const body = await text(request)
    const send = ({ status, body, headers }: FrontReply) => {
      front.roundTrips = Math.max(front.roundTrips, roundTrip)
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
    }
    if (front.delayMs) await sleep(front.delayMs)
    if (fault === 'slow') await sleep(SLOW_MS)
    if (fault === 'cut before') return void request.socket.destroy()
    if (fault === 'busy') return send({ status: 429, body: '{"error":"ERR rate limit exceeded"}' })
    if (fault === 'down') return send({ status: 503, body: '{"error":"Service Unavailable"}' })
    if (fault === 'error') return send({ ...PAGE, status: 500 })
    if (fault === 'html') return send(PAGE)
    if (fault === 'twice') await respond(request, body)
    const reply = await respond(request, body)
    if (fault === 'stall') return
    if (fault === 'cut after') return void request.socket.destroy()
    if (fault !== 'cut within') return send(reply)
    const bytes = Buffer.from(reply.body)
    response.writeHead(reply.status, { ...reply.headers, 'content-length': bytes.length })
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))

  const front: Front = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP server's address is never a string
    requests: 0,
    faults: [],
    delayMs: 0,
    roundTrips: 0,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return front
}

const PAGE: FrontReply = { status: 200, body: '<html>', headers: { 'content-type': 'text/html' } }
