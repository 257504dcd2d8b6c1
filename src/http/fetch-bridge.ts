import { gatewayError } from '../errors.ts'
import { encodeUtf8 } from '../lib/bytes.ts'
import { type ByteStream, type Exchange, isByteStream, type Reply, type UpstreamFetch } from '../lib/exchange.ts'
import { fieldsOf, type HeaderFields } from '../lib/header-fields.ts'
import type { Lookout } from '../lib/lookout.ts'
import { ClientSignal } from './client-signal.ts'
import { readBody } from './request-body.ts'

/** What comes beside the request: the execution context of Workers, or what a mount knows of its runtime. */
export interface FetchContext {
  waitUntil?(work: Promise<unknown>): void
  upstream?: UpstreamFetch
}

/** The request that `fetch` would make of the same arguments, so that a client's own `fetch` can be the gateway. */
export const requestOf = (input: Request | URL | string, init: unknown): Request =>
  typeof input === 'string' || input instanceof URL ? new Request(input, init as RequestInit | undefined) : input // it checks them

/** What is known of a Fetch request besides. */
export interface FetchTerms {
  context?: FetchContext | undefined
  /** Where the request's signal may be listened to a moment later. */
  lookout?: Lookout | undefined
  /** See `BodyTerms`. */
  holdsRefused?: boolean
}

/** A Fetch request as an exchange. Throws `INVALID_REQUEST` when its `Host` is malformed, since its path is not known then. */
export const exchangeOf = (request: Request, terms: FetchTerms = {}): Exchange => new FetchExchange(request, terms)

/** One Fetch request. */
class FetchExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  declare readonly waitUntil?: (work: Promise<unknown>) => void
  declare readonly upstream?: UpstreamFetch
  readonly #request: Request
  readonly #fields: HeaderFields
  readonly #href: string
  readonly #signal: ClientSignal
  readonly #holdsRefused: boolean

  constructor(request: Request, { context, lookout, holdsRefused = false }: FetchTerms) {
    const fields = fieldsOf(request.headers)
    const { href, pathname, search } = urlOf(request.url, fields.get('host'))
    this.method = request.method
    this.path = pathname
    this.query = search
    this.#request = request
    this.#fields = fields
    this.#href = href
    this.#signal = new ClientSignal(request, lookout)
    this.#holdsRefused = holdsRefused
    if (context?.waitUntil) this.waitUntil = context.waitUntil.bind(context)
    if (context?.upstream) this.upstream = context.upstream
  }

  header(name: string): string | undefined {
    return this.#fields.get(name)
  }

  copyHeaders(names: ReadonlySet<string>, into: Record<string, string>): void {
    this.#fields.copy(names, into)
  }

  body(maxBytes: number): Promise<Uint8Array> {
    return readBody(this.#request, this.#fields, { maxBytes, holdsRefused: this.#holdsRefused, client: this.#signal })
  }

  onAbort(listener: () => void): () => void {
    return this.#signal.onAbort(listener)
  }

  toRequest(): Request {
    const { method, headers, signal } = this.#request
    return new Request(this.#href, { method, headers, signal })
  }
}

const HOST = /^(?:\w[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** The parts of a URL, which a `URL` makes anew each time that it is asked. */
type UrlParts = Pick<URL, 'href' | 'pathname' | 'search'>

/** Most requests are for the same few addresses. */
let last: { url: string; host: string | undefined; parts: UrlParts } | undefined

/** The URL of a request. Throws on a malformed `Host`: Deno puts one with a path into the URL as it is, Bun leaves the host out. */
function urlOf(url: string, host: string | undefined): UrlParts {
  if (last?.url === url && last.host === host) return last.parts
  try {
    if (host === undefined || HOST.test(host)) {
      const { href, pathname, search } = new URL(url.startsWith('/') ? `http://localhost${url}` : url)
      const parts = { href, pathname, search }
      last = { url, host, parts }
      return parts
    }
  } catch {}
  throw gatewayError('INVALID_REQUEST', { message: 'The Host header is not a host name.' })
}

/** A reply as a Fetch response; `linger`: awaited before the end of one that closes its connection. Headers are set one by one: to read them from an object takes Bun half as long again, and Deno twice as long. */
export function responseOf({ status, headers, body }: Reply, linger?: () => Promise<void>): Response {
  const isHeldOpen = linger !== undefined && headers.connection === 'close' && typeof body === 'string'
  const stream = isHeldOpen ? followedBy(linger, body) : body
  const content = isByteStream(stream) ? readableOf(stream) : ((stream ?? null) as BodyInit | null) // the bytes are not shared memory
  const response = new Response(content, { status })
  const fields = response.headers
  for (const name in headers) fields.set(name, headers[name] ?? '')
  return response
}

/** The text at once, its end when `linger` resolves. */
function followedBy(linger: () => Promise<void>, text: string): ByteStream {
  let isSent = false
  return {
    async next() {
      if (isSent) {
        await linger()
        return undefined
      }
      isSent = true
      return encodeUtf8(text)
    },
    cancel() {},
  }
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
