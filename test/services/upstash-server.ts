import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { OpenClient } from './redis-clients.ts'
import { TOKEN } from './upstash-conformance.ts'

/** What the front does with the next requests instead of answering them. */
export type Fault =
  | 'cut before' // closes the connection, and runs nothing
  | 'cut after' // runs the command, and closes the connection
  | 'busy' // 429
  | 'down' // 503
  | 'stall' // runs the command, and never answers
  | 'html' // 200 with a page

/** Upstash's REST API over a real Redis. */
export interface UpstashServer {
  url: string
  /** The requests so far. */
  requests: number
  /** Faults of the next requests, one each. */
  faults: Fault[]
  close(): Promise<void>
}

/** Starts the API over a client's Redis: `/`, `/pipeline`, `/multi-exec`, encoded replies, sync tokens, and errors. */
export async function startUpstash(redis: Pick<OpenClient, 'command'>): Promise<UpstashServer> {
  const server = createServer(async (request, response) => {
    const body = await text(request)
    state.requests++
    const fault = state.faults.shift()
    if (fault === 'cut before') return void request.socket.destroy()
    const send = (status: number, body: unknown, headers = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (fault === 'busy') return send(429, { error: 'ERR rate limit exceeded' })
    if (fault === 'down') return send(503, { error: 'Service Unavailable' })
    if (fault === 'html') return void response.writeHead(200).end('<html>')
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return send(401, { error: 'WRONGPASS invalid or missing auth token' })
    const isEncoded = request.headers['upstash-encoding'] === 'base64'
    const run = async (command: readonly unknown[]) => {
      try {
        const result = await redis.command(...command.map(String))
        return { result: isEncoded ? encode(result) : result }
      } catch (error) {
        return { error: (error as Error).message }
      }
    }
    const parsed = JSON.parse(body)
    const isList = request.url !== '/'
    const result = isList ? await Promise.all(parsed.map(run)) : await run(parsed)
    if (fault === 'cut after') return void request.socket.destroy()
    if (fault === 'stall') return
    const status = !isList && 'error' in result ? 400 : 200
    send(status, result, { 'upstash-sync-token': request.headers['upstash-sync-token'] ?? randomUUID() })
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const state: UpstashServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: 0,
    faults: [],
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return state
}

/** Encodes the strings of a reply as `Upstash-Encoding: base64` asks. */
function encode(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(encode)
  return typeof reply === 'string' && reply !== 'OK' ? Buffer.from(reply).toString('base64') : reply
}
