import { randomUUID } from 'node:crypto'
import { type Front, startFront } from './http-front.ts'
import type { OpenClient } from './redis-clients.ts'
import { TOKEN } from './upstash-conformance.ts'

/** Starts Upstash's REST API in front of a Redis client: `/`, `/pipeline`, `/multi-exec`, encoded responses, sync tokens, and errors. */
export function startUpstash(redis: Pick<OpenClient, 'command'>): Promise<Front> {
  return startFront(async ({ url, headers }, body) => {
    const reply = (status: number, value: unknown, extra = {}) => ({
      status,
      body: JSON.stringify(value),
      headers: extra,
    })
    if (headers.authorization !== `Bearer ${TOKEN}`)
      return reply(401, { error: 'WRONGPASS invalid or missing auth token' })
    const isEncoded = headers['upstash-encoding'] === 'base64'
    const run = async (command: readonly unknown[]) => {
      try {
        const result = await redis.command(...command.map(String))
        return { result: isEncoded ? encode(result) : result }
      } catch (error) {
        return { error: (error as Error).message }
      }
    }
    const parsed = JSON.parse(body)
    const isList = url !== '/'
    const result = isList ? await Promise.all(parsed.map(run)) : await run(parsed)
    const status = !isList && 'error' in result ? 400 : 200
    return reply(status, result, { 'upstash-sync-token': headers['upstash-sync-token'] ?? randomUUID() })
  })
}

/** Encodes a response's strings if the request has `Upstash-Encoding: base64`. */
function encode(reply: unknown): unknown {
  if (Array.isArray(reply)) return reply.map(encode)
  return typeof reply === 'string' && reply !== 'OK' ? Buffer.from(reply).toString('base64') : reply
}
