import type { ByteStream, PendingResponse, UpstreamCall, UpstreamFetch, UpstreamResponse } from './exchange.ts'

/** Reads the body of a Fetch message. Small JSON of known length is read in one step, because a stream is slow on some platforms. */
export const createFetchBody = (message: Request | Response): FetchBody => new FetchBody(message)

const MAX_BUFFERED_BYTES = 1024 * 1024

/** A compressed body may be larger than its length suggests. */
function isSmallJson({ headers }: Request | Response): boolean {
  const contentLength = headers.get('content-length')
  if (contentLength === null || Number(contentLength) > MAX_BUFFERED_BYTES || headers.get('content-encoding') !== null)
    return false
  return headers.get('content-type')?.includes('json') ?? false
}

class FetchBody implements ByteStream {
  readonly #message: Request | Response
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined = undefined
  #isTaken = false

  constructor(message: Request | Response) {
    this.#message = message
    if (!isSmallJson(message)) this.#reader = message.body?.getReader()
  }

  /**
   * Uses `arrayBuffer()`, which every platform has. Some libraries' requests inherit the platform's `bytes()`, which rejects objects that the
   * platform didn't create. If your `fetch` returns its own response object, `arrayBuffer` may be missing.
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
    void this.#reader?.cancel(reason).catch(() => {}) // the caller is no longer waiting
  }
}

/** Starts a call to a provider, with `fetch.raw` if it exists. */
export const startCall = (fetch: UpstreamFetch, call: UpstreamCall): PendingResponse =>
  fetch.raw ? fetch.raw(call) : fetchCall(fetch, call)

/** Starts a call with `fetch`. `waitForTurn` is awaited once the headers have arrived, so responses are handled in batches. */
export function fetchCall(
  fetch: (url: string, init: RequestInit) => Promise<Response>,
  call: UpstreamCall,
  waitForTurn?: () => Promise<void>,
): PendingResponse {
  const controller = new AbortController()
  let body: FetchBody | undefined

  /** Takes the request as arguments, because a closure would keep it in memory as long as `cancel`. */
  async function open(url: string, init: RequestInit): Promise<UpstreamResponse> {
    const response = await fetch(url, init)
    if (waitForTurn) await waitForTurn()
    const { headers } = response
    body = createFetchBody(response)
    if (controller.signal.aborted) body.cancel(controller.signal.reason) // canceled before the response arrived
    return { status: response.status, header: (name) => headers.get(name) ?? undefined, headers: () => headers, body }
  }

  return {
    response: open(call.url, createRequestInit(call, controller.signal)),
    cancel(reason) {
      controller.abort(reason)
      body?.cancel(reason)
    },
  }
}

/** Creates the options for `fetch`. Redirects aren't followed, because some platforms would send credentials in headers to the other host. */
function createRequestInit({ method, headers, body }: UpstreamCall, signal: AbortSignal): RequestInit {
  const init: RequestInit = { method, headers, redirect: 'manual', signal }
  if (method === 'GET') init.cache = 'no-store'
  if (body !== undefined) init.body = body as BodyInit // the type excludes shared memory, which the bytes never use
  return init
}
