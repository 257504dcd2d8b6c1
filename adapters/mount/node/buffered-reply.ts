import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { waitForTurnEnd } from './turn-end.ts'

/** A reply of known length. */
export interface BufferedReply {
  status: number
  headers: OutgoingHttpHeaders
  body?: string | Uint8Array
}

/** Request bodies up to this size are read to the end, so the connection can be reused. */
const MAX_SMALL_BODY_BYTES = 64 * 1024
/**
 * How long a client may keep sending its request after the response was sent, in ms. If the connection were closed immediately, the client would get
 * a reset instead of the response.
 */
const LINGER_MS = 500

/** Sends a reply with its length. If much of the request body is unread, closes the connection afterward. */
export function sendBuffered(
  req: IncomingMessage,
  res: ServerResponse,
  { status, headers, body }: BufferedReply,
): void {
  // Under load, `{ ...headers }` gets a new hidden class each time (Node 20), which only a major garbage collection frees.
  const out = Object.assign({}, headers)
  if (body !== undefined) out['content-length'] ??= typeof body === 'string' ? Buffer.byteLength(body) : body.length
  else if (status !== 204 && status !== 304 && req.method !== 'HEAD') out['content-length'] ??= 0
  const isCutOff = hasLargeUnreadBody(req)
  if (isCutOff) out.connection = 'close'
  res.writeHead(status, out)
  if (isCutOff) sendAndLinger(req, res, body)
  else void waitForTurnEnd().then(() => res.end(body))
}

/** Returns whether much of the request body is unread. */
export function hasLargeUnreadBody(req: IncomingMessage): boolean {
  if (req.complete) return false
  const { 'content-length': length, 'transfer-encoding': encoding } = req.headers
  if (length === undefined && encoding === undefined) return false
  return !(Number(length) <= MAX_SMALL_BODY_BYTES)
}

/** Sends a response of known length, and keeps the connection open for a moment to discard whatever the client still sends. */
function sendAndLinger(req: IncomingMessage, res: ServerResponse, body: string | Uint8Array | undefined): void {
  if (body) res.write(body)
  else res.flushHeaders()
  const end = () => {
    clearTimeout(timer)
    res.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  res.once('close', () => clearTimeout(timer))
  req.once('end', end)
  req.resume()
}
