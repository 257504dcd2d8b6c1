import type { ServerResponse } from 'node:http'
import type { ByteStream } from '../../../src/index.ts'
import { cut } from './cut.ts'
import type { NodeExchange } from './exchange.ts'
import { turnEnd } from './turn.ts'

/**
 * Pulls a stream into a response whose head is written, at the pace of the client, each chunk sent as it comes.
 * A client that leaves cancels the stream; a stream that fails cuts the connection, which no client takes for an end.
 */
export async function pump(exchange: NodeExchange, res: ServerResponse, body: ByteStream): Promise<void> {
  exchange.onAbort(() => body.cancel())
  const flush = flushOf(res)
  sendHead(res)
  try {
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      await turnEnd()
      if (exchange.gone || res.writableEnded) return body.cancel() // or the host has ended the response by itself
      const hasRoom = res.write(chunk)
      flush?.()
      if (!hasRoom) await new Promise((resolve) => res.once('drain', resolve)) // for ever, when the client leaves meanwhile
    }
    if (!exchange.gone) res.end()
  } catch {
    cut(res) // the reason was the gateway's to report
  } finally {
    exchange.settle()
  }
}

/** Sends the head now, together with chunks that are here already. */
function sendHead(res: ServerResponse): void {
  const { socket } = res
  socket?.cork()
  res.flushHeaders()
  if (socket) void turnEnd().then(() => process.nextTick(() => socket.uncork()))
}

/** Compressing middleware holds chunks back until it is told to flush. */
function flushOf(res: ServerResponse & { flush?: unknown }): (() => void) | undefined {
  const { flush } = res
  return typeof flush === 'function' ? () => void flush.call(res) : undefined
}
