import type { IncomingMessage } from 'node:http'
import { gatewayError } from '../../../src/errors.ts'
import { sendContinue } from './continue.ts'

/** The fields that body parsers set on a request. */
interface ParsedMessage extends IncomingMessage {
  body?: unknown
  rawBody?: unknown
}

/** Returns whether a body parser has read the body into `req.body` or `req.rawBody`. */
export const isParsed = (req: ParsedMessage): boolean => req.readableDidRead

/**
 * Reads a request's body once. As soon as more than `maxBytes` are declared or received, stops reading and rejects with `PAYLOAD_TOO_LARGE`. If the
 * client disconnects, which `onAbort` reports, rejects with `CLIENT_CLOSED_REQUEST`.
 */
export function readBody(
  req: IncomingMessage,
  maxBytes: number,
  onAbort: (listener: () => void) => () => void,
): Promise<Uint8Array> {
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.reject(createTooLargeError(maxBytes))
  if (req.headers.expect) sendContinue(req)
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = []
    let size = 0
    const stopListening = onAbort(() => reject(gatewayError('CLIENT_CLOSED_REQUEST')))
    /** Removes the listeners, which would otherwise keep the body in memory until the response ends. */
    const stop = () => {
      stopListening()
      req.off('data', onData)
      req.off('end', onEnd)
    }
    const onData = (chunk: Buffer | string) => {
      const part = typeof chunk === 'string' ? Buffer.from(chunk) : chunk // the app may have called `setEncoding`
      size += part.length
      parts.push(part)
      if (size <= maxBytes) return
      stop()
      req.pause()
      reject(createTooLargeError(maxBytes))
    }
    const onEnd = () => {
      stop()
      const [first] = parts
      resolve(first && parts.length === 1 ? first : Buffer.concat(parts, size))
    }
    req.on('data', onData)
    req.on('end', onEnd)
  })
}

/** Returns the body from a body parser: its bytes, its text, or an object, which is serialized as JSON. */
export async function readParsedBody(req: ParsedMessage, maxBytes: number): Promise<Uint8Array> {
  const bytes = toBytes(req.rawBody instanceof Uint8Array ? req.rawBody : req.body)
  if (!bytes && (req.headers['transfer-encoding'] || Number(req.headers['content-length'] ?? 0) > 0)) {
    throw gatewayError('BODY_ALREADY_READ', { message: ALREADY_PARSED_MESSAGE })
  }
  if (bytes && bytes.length > maxBytes) throw createTooLargeError(maxBytes)
  return bytes ?? new Uint8Array()
}

function toBytes(body: unknown): Uint8Array | undefined {
  if (body === undefined) return undefined
  if (body instanceof Uint8Array) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** The message for frameworks that keep the parsed body outside the Node request: Fastify, and Koa with a body parser. */
const ALREADY_PARSED_MESSAGE =
  'The request body was read before it reached the gateway. Mount the gateway before any body parser. ' +
  'In Fastify, whose parsers read the body first, mount it as a plugin without them: ' +
  "app.register((scope, _options, done) => { scope.removeAllContentTypeParsers(); scope.addContentTypeParser('*', (_request, _payload, next) => " +
  "next(null)); scope.all('/ai/*', (request, reply) => { reply.hijack(); toNodeHandler(gateway)(request.raw, reply.raw) }); done() })"

const createTooLargeError = (maxBytes: number) =>
  gatewayError('PAYLOAD_TOO_LARGE', { message: `The request body is larger than ${maxBytes} bytes.` })
