import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ByteStream, Reply } from '../../../src/index.ts'
import type { NodeExchange } from './exchange.ts'
import { pump } from './pump.ts'
import { hasLargeRest, sendWhole } from './whole.ts'

/** Sends a reply and owns its stream, which is always read to its end or cancelled. */
export function sendReply(exchange: NodeExchange, req: IncomingMessage, res: ServerResponse, reply: Reply): void {
  const { status, headers, body } = reply
  const isOver = res.headersSent || res.writableEnded
  try {
    if (isStream(body) && req.method !== 'HEAD' && !isOver) {
      res.writeHead(status, hasLargeRest(req) ? { ...headers, connection: 'close' } : headers)
      void pump(exchange, res, body)
      return
    }
    exchange.settle()
    if (isStream(body)) body.cancel()
    if (!isOver)
      sendWhole(req, res, isStream(body) || body === undefined ? { status, headers } : { status, headers, body })
  } catch (error) {
    if (isStream(body)) body.cancel(error)
    sendWhole(req, res, { status: 500, headers: {} }) // a header that HTTP cannot carry
  }
}

const isStream = (body: Reply['body']): body is ByteStream => typeof body === 'object' && 'next' in body
