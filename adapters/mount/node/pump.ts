import type { ServerResponse } from 'node:http'
import type { ByteStream } from '../../../src/index.ts'
import type { NodeExchange } from './node-exchange.ts'
import { waitForTurnEnd } from './turn-end.ts'

/** How long to wait for written bytes to be sent before closing the connection, in ms. */
const FLUSH_MS = 1_000

/** Cuts off a response that can't be completed: sends what was written, then closes the connection. */
function disconnect(res: ServerResponse): void {
  const { socket } = res
  if (!socket) {
    res.destroy()
    return
  }
  // In HTTP/1.0, closing the connection ends the body, so only a reset shows that the body was cut off.
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

/** How many unsent bytes to buffer for a client that doesn't read, in addition to kernel buffers and one chunk. */
export const MAX_WRITE_AHEAD_BYTES = 16 * 1024

/**
 * Writes a stream to a response with its headers already set. Sends each chunk as it arrives, but no faster than the client reads. If the client
 * disconnects, cancels the stream. If the stream fails, closes the connection, so the client doesn't mistake the failure for a normal end.
 */
export async function pump(exchange: NodeExchange, res: ServerResponse, body: ByteStream): Promise<void> {
  exchange.onAbort(() => body.cancel())
  const flush = findFlush(res)
  sendHead(res)
  try {
    for (let chunk = await body.next(); chunk; chunk = await body.next()) {
      await waitForTurnEnd()
      if (exchange.isDisconnected || res.writableEnded) return body.cancel() // the app may have ended the response itself
      const hasRoom = write(res, chunk)
      flush?.()
      if (hasRoom !== undefined) await hasRoom
    }
    if (!exchange.isDisconnected) res.end()
  } catch {
    disconnect(res) // the gateway has already reported the error
  } finally {
    exchange.settle()
  }
}

/**
 * Writes a chunk. Resolves when there is room for another; your app's server may buffer more than the gateway's own. Doesn't resolve if the client
 * disconnects.
 */
function write(res: ServerResponse, chunk: Uint8Array): Promise<void> | undefined {
  const isOverBuffer = res.writableLength + chunk.length > MAX_WRITE_AHEAD_BYTES
  // Middleware that replaces `write` may not call its callback.
  if (isOverBuffer && !Object.hasOwn(res, 'write'))
    return new Promise((resolve) => void res.write(chunk, () => resolve()))
  return res.write(chunk) ? undefined : new Promise((resolve) => void res.once('drain', resolve))
}

/** Sends the headers together with the chunks that have already arrived. */
function sendHead(res: ServerResponse): void {
  const { socket } = res
  socket?.cork()
  res.flushHeaders()
  if (socket) void waitForTurnEnd().then(() => process.nextTick(() => socket.uncork()))
}

/** Returns the `flush` method of compression middleware, which holds chunks back until it is flushed. */
function findFlush(res: ServerResponse & { flush?: unknown }): (() => void) | undefined {
  const { flush } = res
  return typeof flush === 'function' ? () => void flush.call(res) : undefined
}
