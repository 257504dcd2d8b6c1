import { gatewayError, isGatewayError } from '../errors.ts'
import { readAll } from '../lib/bytes.ts'
import { type ByteStream, type Exchange, isByteStream, type Reply, type UpstreamFetch } from '../lib/exchange.ts'
import { bodyOf } from '../lib/fetch-body.ts'
import { fieldsOf } from '../lib/header-fields.ts'

/** What comes beside the request: the execution context of Workers, or what a mount knows of its runtime. */
export interface FetchContext {
  waitUntil?(work: Promise<unknown>): void
  upstream?: UpstreamFetch
}

/** The request that `fetch` would make of the same arguments, so that a client's own `fetch` can be the gateway. */
export const requestOf = (input: Request | URL | string, init: unknown): Request =>
  typeof input === 'string' || input instanceof URL ? new Request(input, init as RequestInit | undefined) : input // it checks them

/** A Fetch request as an exchange. Throws `INVALID_REQUEST` when its `Host` is malformed, since its path is not known then. */
export function exchangeOf(request: Request, context?: FetchContext): Exchange {
  const { get: header } = fieldsOf(request.headers)
  const { href, pathname, search } = urlOf(request.url, header('host'))
  const onAbort = abortListeners(request)
  const exchange: Exchange = {
    method: request.method,
    path: pathname,
    query: search,
    header,
    body: (maxBytes) => readBody(request, header, { maxBytes, onAbort }),
    onAbort,
    toRequest: () => new Request(href, { method: request.method, headers: request.headers, signal: request.signal }),
  }
  if (!context) return exchange
  const waitUntil = context.waitUntil?.bind(context)
  const { upstream } = context
  return { ...exchange, ...(waitUntil && { waitUntil }), ...(upstream && { upstream }) }
}

const HOST = /^(?:\w[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Most requests are for the same few addresses. */
let last: { url: string; host: string | undefined; read: URL } | undefined

/** The URL of a request. Throws on a malformed `Host`: Deno puts one with a path into the URL as it is, Bun leaves the host out. */
function urlOf(url: string, host: string | undefined): URL {
  if (last?.url === url && last.host === host) return last.read
  try {
    if (host === undefined || HOST.test(host)) {
      const read = new URL(url.startsWith('/') ? `http://localhost${url}` : url)
      last = { url, host, read }
      return read
    }
  } catch {}
  throw gatewayError('INVALID_REQUEST', { message: 'The Host header is not a host name.' })
}

/** A reply as a Fetch response. */
export function responseOf({ status, headers, body }: Reply): Response {
  const init = { status, headers }
  if (body === undefined) return new Response(null, init)
  return new Response(isByteStream(body) ? readableOf(body) : (body as BodyInit), init) // the bytes are not shared memory
}

async function readBody(
  request: Request,
  header: Exchange['header'],
  { maxBytes, onAbort }: { maxBytes: number; onAbort: Exchange['onAbort'] },
): Promise<Uint8Array> {
  const tooLarge = () =>
    gatewayError('PAYLOAD_TOO_LARGE', { message: `The request body is larger than ${maxBytes} bytes.` })
  if (Number(header('content-length')) > maxBytes) throw tooLarge()
  if (request.bodyUsed)
    throw gatewayError('INTERNAL', {
      cause: new TypeError('The body of the request was read before the gateway got it.'),
    })
  const body = bodyOf(request, header)
  let stopListening = () => {}
  const bytes = new Promise<Uint8Array>((resolve, reject) => {
    stopListening = onAbort(() => {
      reject(gatewayError('CLIENT_CLOSED_REQUEST'))
      body.cancel(request.signal.reason)
    })
    readAll(body, maxBytes, tooLarge).then(resolve, reject)
  })
  try {
    return await bytes
  } catch (cause) {
    if (isGatewayError(cause)) throw cause
    if (request.signal.aborted) throw gatewayError('CLIENT_CLOSED_REQUEST', { cause })
    throw gatewayError('INVALID_REQUEST', { message: 'The request body cannot be read to its end.', cause })
  } finally {
    stopListening()
  }
}

/** One listener on the signal for all callers; platforms create the signal only when it is asked for. */
function abortListeners(request: Request): Exchange['onAbort'] {
  let listeners: Array<() => void> | undefined
  return (listener) => {
    const { signal } = request
    if (signal.aborted) {
      listener()
      return () => {}
    }
    const present = listeners ?? listenTo(signal)
    listeners = present
    present.push(listener)
    return () => {
      const at = present.indexOf(listener)
      if (at >= 0) present.splice(at, 1)
    }
  }
}

function listenTo(signal: AbortSignal): Array<() => void> {
  const listeners: Array<() => void> = []
  signal.addEventListener('abort', () => {
    for (const listener of [...listeners]) listener() // one may stop itself or another
  })
  return listeners
}

/** Pulls one chunk at a time: nothing is read ahead of the client. */
function readableOf(stream: ByteStream): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = await stream.next()
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel: (reason) => stream.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
