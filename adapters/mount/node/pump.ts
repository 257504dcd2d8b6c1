import type { ServerResponse } from 'node:http'
import type { ByteStream } from '../../../src/index.ts'
import type { NodeExchange } from './node-exchange.ts'
import { turnEnd } from './turn.ts'

/** How long written bytes may take to be sent before the connection is closed. */
const FLUSH_MS = 1_000

/** Breaks off a response that cannot be completed: what was written is sent, then the connection is closed. */
function disconnect(res: ServerResponse): void {
  const { socket } = res
  if (!socket) {
    res.destroy()
    return
  }
  // In HTTP/1.0 a body ends with the connection, so that only a reset shows that it was cut.
  const canReset = res.req.httpVersion === '1.0' && !('encrypted' in socket)
  const kill = () => {
    clearTimeout(timer)
    if (socket.destroyed) return
    if (canReset) socket.resetAndDestroy()
    else socket.destroy()
  }
  const timer = setTimeout(kill, FLUSH_MS)
  socket.write('', kill)
}

/** How many unsent bytes a client that does not read may have, besides the kernel's buffers and one chunk. */
export const WRITE_AHEAD = 16 * 1024

/**
 * Writes a stream to a response whose head is set, at the client's pace, each chunk as it arrives. When the client disconnects, the stream is
 * cancelled; when the stream fails, the connection is broken off, so that the client does not take the failure for a normal end.
 */
export async function pump(exchange: NodeExchange, res: ServerResponse, body: ByteStream): Promise<void> {
  exchange.onAbort(() => body.cancel())
  const flush = findFlush(res)
  sendHead(res)
  try {
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      await turnEnd()
      if (exchange.gone || res.writableEnded) return body.cancel() // the host may have ended the response itself
      const hasRoom = write(res, chunk)
      flush?.()
      if (hasRoom !== undefined) await hasRoom
    }
    if (!exchange.gone) res.end()
  } catch {
    disconnect(res) // the gateway has reported the error already
  } finally {
    exchange.settle()
  }
}

/**
 * Writes a chunk. Resolves when there is room for another; a host's server may buffer more than the gateway's own. Does not resolve when the
 * client disconnects meanwhile.
 */
function write(res: ServerResponse, chunk: Uint8Array): Promise<void> | undefined {
  const isOverBuffer = res.writableLength + chunk.length > WRITE_AHEAD
  // Middleware that has replaced `write` may not call its callback.
  if (isOverBuffer && !Object.hasOwn(res, 'write'))
    return new Promise((resolve) => void res.write(chunk, () => resolve()))
  return res.write(chunk) ? undefined : new Promise((resolve) => void res.once('drain', resolve))
}

/** Sends the headers, together with the chunks that have arrived already. */
function sendHead(res: ServerResponse): void {
  const { socket } = res
  socket?.cork()
  res.flushHeaders()
  if (socket) void turnEnd().then(() => process.nextTick(() => socket.uncork()))
}

/** Compressing middleware holds chunks back until it is told to flush. */
function findFlush(res: ServerResponse & { flush?: unknown }): (() => void) | undefined {
  const { flush } = res
  return typeof flush === 'function' ? () => void flush.call(res) : undefined
}
