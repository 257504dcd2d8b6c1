import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** What a front does with a request instead of answering it. */
export type Fault =
  | 'cut before' // closes the connection, and runs nothing
  | 'cut after' // runs the request, and closes the connection
  | 'cut within' // runs the request, and closes the connection in the middle of the response
  | 'stall' // runs the request, and never answers
  | 'twice' // gets the request twice, as from a proxy that repeats it, and answers the second one
  | 'busy' // 429
  | 'error' // 500 with a page
  | 'down' // 503
  | 'html' // 200 with a page, as from a proxy that wants a login
  | 'slow' // waits for `SLOW_MS`, as for a database that sleeps

/** How long a slow request takes, in ms. */
export const SLOW_MS = 2_000

export interface FrontReply {
  status: number
  body: string
  headers?: Record<string, string>
}

/** A service that is called over HTTP, with its network. */
export interface Front {
  url: string
  /** The number of requests so far. */
  requests: number
  /** Faults of the next requests, one each; `undefined` is none. */
  faults: Array<Fault | undefined>
  /** How long each request takes, in ms. */
  delayMs: number
  /** How many of the requests came one after another: each of them was sent after the one before was answered. */
  roundTrips: number
  close(): Promise<void>
}

/** Starts a service on loopback whose requests `answer` runs. */
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // it listens on a port
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
