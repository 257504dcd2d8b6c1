import { gatewayError, isGatewayError } from '../errors.ts'
import { readAll } from '../lib/bytes.ts'
import { type ByteStream, type Exchange, isByteStream, type Reply, type UpstreamFetch } from '../lib/exchange.ts'
import { bodyOf } from '../lib/fetch-body.ts'
import { fieldsOf, type HeaderFields } from '../lib/header-fields.ts'

/** What comes beside the request: the execution context of Workers, or what a mount knows of its runtime. */
export interface FetchContext {
  waitUntil?(work: Promise<unknown>): void
  upstream?: UpstreamFetch
}

/** The request that `fetch` would make of the same arguments, so that a client's own `fetch` can be the gateway. */
export const requestOf = (input: Request | URL | string, init: unknown): Request =>
  typeof input === 'string' || input instanceof URL ? new Request(input, init as RequestInit | undefined) : input // it checks them

/** A Fetch request as an exchange. Throws `INVALID_REQUEST` when its `Host` is malformed, since its path is not known then. */
export const exchangeOf = (request: Request, context?: FetchContext): Exchange => new FetchExchange(request, context)

/** A class, because one is made for each request and lives as long. */
class FetchExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  declare readonly waitUntil?: (work: Promise<unknown>) => void
  declare readonly upstream?: UpstreamFetch
  readonly #request: Request
  readonly #fields: HeaderFields
  readonly #href: string
  /** One listener on the signal for all callers; platforms create the signal only when it is asked for. */
  #listeners: Array<() => void> | undefined = undefined

  constructor(request: Request, context: FetchContext | undefined) {
    const fields = fieldsOf(request.headers)
    const { href, pathname, search } = urlOf(request.url, fields.get('host'))
    this.method = request.method
    this.path = pathname
    this.query = search
    this.#request = request
    this.#fields = fields
    this.#href = href
    if (context?.waitUntil) this.waitUntil = context.waitUntil.bind(context)
    if (context?.upstream) this.upstream = context.upstream
  }

  header(name: string): string | undefined {
    return this.#fields.get(name)
  }

  body(maxBytes: number): Promise<Uint8Array> {
    return readBody(this.#request, { fields: this.#fields, exchange: this, maxBytes })
  }

  onAbort(listener: () => void): () => void {
    const { signal } = this.#request
    if (signal.aborted) {
      listener()
      return ignore
    }
    const listeners = this.#listeners ?? listenTo(signal)
    this.#listeners = listeners
    listeners.push(listener)
    return () => {
      const at = listeners.indexOf(listener)
      if (at >= 0) listeners.splice(at, 1)
    }
  }

  toRequest(): Request {
    const { method, headers, signal } = this.#request
    return new Request(this.#href, { method, headers, signal })
  }
}

const ignore = () => {}

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

function readBody(
  request: Request,
  { fields, exchange, maxBytes }: { fields: HeaderFields; exchange: Pick<Exchange, 'onAbort'>; maxBytes: number },
): Promise<Uint8Array> {
  const tooLarge = () =>
    gatewayError('PAYLOAD_TOO_LARGE', { message: `The request body is larger than ${maxBytes} bytes.` })
  if (Number(fields.get('content-length')) > maxBytes) return Promise.reject(tooLarge())
  if (request.bodyUsed) return Promise.reject(gatewayError('INTERNAL', { cause: new TypeError(USED) }))
  const body = bodyOf(request, fields)
  const unreadable = (cause: unknown) => notRead(request, cause)
  if (!body.whole) return unlessLeft(readAll(body, maxBytes, tooLarge), { request, body, exchange }).catch(unreadable)
  return body.whole().then((bytes) => {
    if (bytes.length > maxBytes) throw tooLarge()
    return bytes
  }, unreadable)
}

/** Rejects as soon as the client leaves, on whatever platform; a body that comes at once is not worth it. */
function unlessLeft(
  reading: Promise<Uint8Array>,
  { request, body, exchange }: { request: Request; body: ByteStream; exchange: Pick<Exchange, 'onAbort'> },
): Promise<Uint8Array> {
  return new Promise<Uint8Array>((resolve, reject) => {
    const stopListening = exchange.onAbort(() => {
      reject(gatewayError('CLIENT_CLOSED_REQUEST'))
      body.cancel(request.signal.reason)
    })
    reading.then(resolve, reject).finally(stopListening)
  })
}

const USED = 'The body of the request was read before the gateway got it.'

function notRead({ signal }: Request, cause: unknown): never {
  if (isGatewayError(cause)) throw cause
  if (signal.aborted) throw gatewayError('CLIENT_CLOSED_REQUEST', { cause })
  throw gatewayError('INVALID_REQUEST', { message: 'The request body cannot be read to its end.', cause })
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
