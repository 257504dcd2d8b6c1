import { gatewayError, isGatewayError } from '../../errors.ts'
import { checkSize, encodeUtf8, readAll } from '../../lib/bytes.ts'
import { type ByteStream, type Exchange, isByteStream, type Reply, type UpstreamFetch } from '../../lib/exchange.ts'
import { createFetchBody } from '../../lib/fetch-call.ts'
import { isObject } from '../../lib/json.ts'
import { createClientScope } from '../../lib/scope.ts'
import type { App } from './app.ts'
import { createManagementErrorReply } from './error-reply.ts'

/** The handlers of Fetch requests. If a handler fails, the client gets an error response. */
interface FetchHandlers {
  /**
   * Also responds to paths that aren't the gateway's. If it is called like `fetch`, with a URL, and the client's signal aborts before the response,
   * it rejects with the signal's reason; otherwise, it never rejects.
   */
  fetch(request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /** Resolves to `undefined` for paths that aren't the gateway's. */
  handle(request: Request, ...platform: unknown[]): Promise<Response | undefined>
  /** Returns whether the request or URL is the gateway's. */
  matches(request: Request | URL | string): boolean
}

/** Handler options. */
export interface FetchHandlersOptions extends BodyOptions {
  /** Returns whether `app` handles this path. */
  isGatewayPath(path: string): boolean
  /** Creates the reply to any other path. */
  notFound(exchange: Exchange): Reply
  /** Awaited before a request starts, on platforms where starting many requests concurrently is faster. */
  beforeRequest: (() => Promise<void>) | undefined
  /** Awaited before the end of a response that closes the connection. */
  linger: (() => Promise<void>) | undefined
  onError(error: unknown): void
}

interface BodyOptions {
  /** Whether the platform keeps reading a request body that was canceled or never read. If so, the body of a rejected request is held. */
  holdsRejectedBodies: boolean
}

/** Creates the Fetch handlers of `app`. */
export function createFetchHandlers(
  app: App,
  { isGatewayPath, notFound, beforeRequest, holdsRejectedBodies, linger, onError }: FetchHandlersOptions,
): FetchHandlers {
  async function handleRequest(
    request: Request,
    platform: readonly unknown[],
    {
      getFallbackReply,
      callerSignal,
    }: { getFallbackReply: (exchange: Exchange) => Reply | undefined; callerSignal?: AbortSignal | undefined },
  ): Promise<Response | undefined> {
    try {
      const exchange = new FetchExchange(request, { platform, holdsRejectedBodies })
      if (beforeRequest) await beforeRequest()
      const reply = (await app(exchange)) ?? getFallbackReply(exchange)
      return reply && toResponse(reply, linger, callerSignal)
    } catch (error) {
      return toResponse(createManagementErrorReply(error, onError)) // the request's path is unknown, so reply as under `/api`
    }
  }

  return {
    async fetch(input, ...platform) {
      const request = toRequest(input, platform[0])
      const callerSignal = request === input ? undefined : request.signal // the caller is a client in this process, not a server
      callerSignal?.throwIfAborted()
      const response = await handleRequest(request, platform, { getFallbackReply: notFound, callerSignal })
      if (callerSignal?.aborted) {
        await response?.body?.cancel().catch(() => {})
        throw callerSignal.reason
      }
      return response ?? new Response(null, { status: 404 })
    },
    handle: (request, ...platform) => handleRequest(request, platform, { getFallbackReply: () => undefined }),
    matches(request) {
      const url = typeof request === 'object' && 'url' in request ? request.url : request
      return URL.canParse(url, BASE_URL) && isGatewayPath(new URL(url, BASE_URL).pathname)
    },
  }
}

/** The base of URLs that are only a path. */
const BASE_URL = 'http://gateway'

/** The context that a platform or framework adapter passes with the request: the execution context on Workers, and facts about the runtime. */
interface FetchContext {
  waitUntil?(work: Promise<unknown>): void
  upstream?: UpstreamFetch
  /** For `identify`. Default: the arguments of `fetch` after the request. */
  platform?: unknown
}

/** Returns whether this is the execution context, which Workers pass as the third argument. */
const isFetchContext = (argument: unknown): argument is FetchContext =>
  isObject(argument) && typeof argument.waitUntil === 'function'

/** Returns the request that `fetch` would create from the same arguments, so the gateway can be a client's `fetch`. */
const toRequest = (input: Request | URL | string, init: unknown): Request =>
  typeof input === 'string' || input instanceof URL ? new Request(input, init as RequestInit | undefined) : input // `Request` validates `init`

/** A Fetch request as an exchange. Throws `INVALID_REQUEST` if its `Host` is malformed, because its path is then unknown. */
class FetchExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  declare readonly waitUntil?: (work: Promise<unknown>) => void
  declare readonly upstream?: UpstreamFetch
  readonly #request: Request
  readonly #platform: readonly unknown[]
  readonly #href: string
  readonly #holdsRejectedBodies: boolean

  constructor(request: Request, { platform, holdsRejectedBodies }: BodyOptions & { platform: readonly unknown[] }) {
    const context = platform.find(isFetchContext)
    const { href, pathname, search } = parseUrl(request)
    this.method = request.method
    this.path = pathname
    this.query = search
    this.#request = request
    this.#platform = platform
    this.#href = href
    this.#holdsRejectedBodies = holdsRejectedBodies
    if (context?.waitUntil) this.waitUntil = context.waitUntil.bind(context)
    if (context?.upstream) this.upstream = context.upstream
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined
  }

  copyHeaders(names: ReadonlySet<string>, destination: Record<string, string>): void {
    const { headers } = this.#request
    for (const name of names) {
      const value = headers.get(name)
      if (value !== null) destination[name] = value
    }
  }

  body(maxBytes: number): Promise<Uint8Array> {
    return readBody(this.#request, maxBytes, this.#holdsRejectedBodies)
  }

  onAbort(listener: () => void): () => void {
    return onAbort(this.#request, listener)
  }

  get platform(): unknown {
    const [first, second] = this.#platform
    if (!isFetchContext(second)) return first
    return second.platform ?? { env: first, ctx: second }
  }

  get scheme(): string {
    return this.#href.startsWith('https:') ? 'https' : 'http'
  }

  toRequest(): Request {
    const { method, headers, signal } = this.#request
    return new Request(this.#href, { method, headers, signal })
  }
}

/**
 * Calls `listener` when the client disconnects (`Exchange.onAbort`). The returned function keeps the request in memory: once the request is
 * garbage-collected, Node's signal no longer reports a disconnect.
 */
function onAbort(request: Request, listener: () => void): () => void {
  if (request.signal.aborted) {
    listener()
    return () => {}
  }
  request.signal.addEventListener('abort', listener, { once: true })
  return () => request.signal.removeEventListener('abort', listener) // your app's signal may outlive the request
}

/** Reads a Fetch request's body; see `Exchange.body`. */
function readBody(request: Request, maxBytes: number, holdsRejectedBodies: boolean): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > maxBytes) {
    if (holdsRejectedBodies && !request.bodyUsed) request.body?.getReader()
    return Promise.reject(createTooLargeError(maxBytes))
  }
  if (request.bodyUsed) return Promise.reject(gatewayError('BODY_ALREADY_READ', { message: BODY_USED_MESSAGE }))
  const body = createFetchBody(request)
  const rethrow = (cause: unknown) => rethrowReadError(request, cause)
  if (request.signal.aborted) {
    body.cancel(request.signal.reason)
    return Promise.reject(gatewayError('CLIENT_CLOSED_REQUEST'))
  }
  const bodyBytes = body.whole()
  if (bodyBytes !== undefined)
    return bodyBytes.then((bytes) => checkSize(bytes, maxBytes, createTooLargeError), rethrow) // reading the entire body in one step can't be canceled
  return readWhileConnected(
    readAll(holdsRejectedBodies ? keepOpen(body) : body, maxBytes, createTooLargeError),
    request,
    body,
  ).catch(rethrow)
}

/** Rejects when the client disconnects, even if the platform doesn't abort reading the body. */
function readWhileConnected(bodyPromise: Promise<Uint8Array>, request: Request, body: ByteStream): Promise<Uint8Array> {
  const { scope, close } = createClientScope({ onAbort: (listener) => onAbort(request, listener) })
  scope.add(() => body.cancel(request.signal.reason))
  return scope.race(bodyPromise).finally(close)
}

function rethrowReadError({ signal }: Request, cause: unknown): never {
  if (isGatewayError(cause)) throw cause
  if (signal.aborted) throw gatewayError('CLIENT_CLOSED_REQUEST', { cause })
  throw gatewayError('INVALID_REQUEST', { message: 'The request body could not be read completely.', cause })
}

/** Wraps the body with a `cancel` that does nothing. On some platforms, a canceled body would be read to its end. */
const keepOpen = (body: ByteStream): ByteStream => ({ next: () => body.next(), cancel() {} })

/**
 * Creates the error for a body that is too large. On platforms that obey the header, the connection is closed after the response, because the rest
 * of the body would follow.
 */
const createTooLargeError = (maxBytes: number) =>
  gatewayError('PAYLOAD_TOO_LARGE', {
    message: `The request body is larger than ${maxBytes} bytes.`,
    headers: { connection: 'close' },
  })

const BODY_USED_MESSAGE =
  'The request body was read before it reached the gateway. Mount the gateway before any body parser, or pass it a clone made beforehand.'

const HOST_PATTERN = /^(?:\w[\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Returns a request's URL. Throws for a malformed `Host`: Deno copies a `Host` with a path into the URL unchanged, and Bun omits it. */
function parseUrl({ url, headers }: Request): URL {
  const host = headers.get('host')
  try {
    if (host === null || HOST_PATTERN.test(host)) return new URL(url.startsWith('/') ? `http://localhost${url}` : url)
  } catch {}
  throw gatewayError('INVALID_REQUEST', { message: 'The Host header is not a valid host name.' })
}

/**
 * Converts a reply to a Fetch response. `linger` is awaited before the end of a response that closes the connection. `callerSignal` is the signal of
 * a client in this process.
 */
function toResponse(reply: Reply, linger?: () => Promise<void>, callerSignal?: AbortSignal): Response {
  const { status, headers, cookies = [], body } = reply
  const isHeldOpen = linger !== undefined && headers.connection === 'close' && typeof body === 'string'
  const replyBody = isHeldOpen ? createLingeringBody(linger, body) : body
  const responseBody = isByteStream(replyBody)
    ? toReadableStream(replyBody, callerSignal)
    : ((replyBody ?? null) as BodyInit | null) // the type excludes shared memory, which the bytes never use
  const response = new Response(responseBody, { status, headers })
  for (const cookie of cookies) response.headers.append('set-cookie', cookie)
  return response
}

/** Creates a stream that sends the text immediately, and ends when `linger` resolves. */
function createLingeringBody(linger: () => Promise<void>, text: string): ByteStream {
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

/** Pulls one chunk at a time, so it never reads ahead of the client. Fails with the reason of `callerSignal` when it aborts. */
function toReadableStream(stream: ByteStream, callerSignal: AbortSignal | undefined): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      start(controller) {
        callerSignal?.addEventListener('abort', () => controller.error(callerSignal.reason), { once: true })
      },
      async pull(controller) {
        const chunk = await stream.next()
        if (callerSignal?.aborted) return // the stream has already failed
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel: (reason) => stream.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
