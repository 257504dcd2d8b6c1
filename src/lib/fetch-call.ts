import type { ByteStream, PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from './exchange.ts'

/**
 * The body of a Fetch request or response. Small JSON of known length is read at once, as a stream would cost more than the rest of the
 * request on some platforms.
 */
export const bodyOf = (message: Request | Response): FetchBody => new FetchBody(message)

const MAX_WHOLE_BYTES = 1024 * 1024

/** Is the body uncompressed JSON of a small known length? A compressed body may be larger than its length says. */
function isSmallJson({ headers }: Request | Response): boolean {
  const length = headers.get('content-length')
  if (length === null || Number(length) > MAX_WHOLE_BYTES || headers.get('content-encoding') !== null) return false
  return headers.get('content-type')?.includes('json') ?? false
}

/** The body of a Fetch message, read by a stream reader, or at once by the platform. */
class FetchBody implements ByteStream {
  readonly #message: Request | Response
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined
  #isTaken = false

  constructor(message: Request | Response) {
    this.#message = message
    if (!isSmallJson(message)) this.#reader = message.body?.getReader()
  }

  /**
   * Reads by `arrayBuffer()`, which every platform has: the requests of some hosts inherit the platform's `bytes()`, which rejects objects
   * that the platform has not made. An object that a host passes as a response may lack `arrayBuffer`.
   */
  whole(): Promise<Uint8Array> | undefined {
    if (this.#reader || this.#isTaken) return undefined
    this.#isTaken = true
    return this.#bytes()
  }

  async #bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.#message.arrayBuffer())
  }

  async next(): Promise<Uint8Array | undefined> {
    if (this.#reader) return (await this.#reader.read()).value
    const bytes = await this.whole()
    return bytes?.length ? bytes : undefined
  }

  cancel(reason?: unknown): void {
    if (!this.#reader && !this.#isTaken) this.#reader = this.#message.body?.getReader()
    this.#isTaken = true
    void this.#reader?.cancel(reason).catch(() => {}) // the caller no longer waits
  }
}

/** Starts one call to a provider, by `fetch.raw` where that exists. */
export const startCall = (fetch: UpstreamFetch, call: UpstreamCall): PendingAnswer =>
  fetch.raw ? fetch.raw(call) : fetchCall(fetch, call)

/** Starts a call by `fetch`. `turn`: awaited after the headers have arrived and before they are read, so that responses are handled in batches. */
export function fetchCall(
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  call: UpstreamCall,
  turn?: () => Promise<void>,
): PendingAnswer {
  const abort = new AbortController()
  let body: FetchBody | undefined

  /** It is passed what it sends, since `cancel` outlives that, and would keep it in memory. */
  async function open(url: string, init: RequestInit): Promise<UpstreamAnswer> {
    const response = await fetch(url, init)
    if (turn) await turn()
    const { headers } = response
    body = bodyOf(response)
    if (abort.signal.aborted) body.cancel(abort.signal.reason) // the call was cancelled before the response came
    return { status: response.status, header: (name) => headers.get(name) ?? undefined, headers: () => headers, body }
  }

  return {
    answer: open(call.url, initOf(call, abort.signal)),
    cancel(reason) {
      abort.abort(reason)
      body?.cancel(reason)
    },
  }
}

/** Redirects are not followed: some platforms send headers with credentials on to the other host. */
function initOf({ method, headers, body }: UpstreamCall, signal: AbortSignal): RequestInit {
  const init: RequestInit = { method, headers, redirect: 'manual', signal }
  if (method === 'GET') init.cache = 'no-store'
  if (body !== undefined) init.body = body as BodyInit // the type excludes shared memory, which the bytes never are
  return init
}
