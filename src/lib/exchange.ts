/**
 * A stream of bytes that is pulled chunk by chunk. `next` resolves to `undefined` at the end, and rejects if the stream is cut off. Only one `next`
 * may be pending at a time.
 */
export interface ByteStream {
  next(): Promise<Uint8Array | undefined>
  /** Reads the entire stream in one step. Call it before the first `next()`. Returns `undefined` if that isn't cheaper. */
  whole?(): Promise<Uint8Array> | undefined
  /** Stops the source immediately. Safe to call at any time, more than once. */
  cancel(reason?: unknown): void
}

/** A request as the gateway sees it, created by each runtime's bridge. Each member is computed on first use. */
export interface Exchange {
  /** The HTTP method in uppercase. */
  readonly method: string
  /** The URL's path as the platform's URL parser normalizes it, still percent-encoded. Authorization and routing both use it. */
  readonly path: string
  /** With its leading `?`. Empty if there is none. */
  readonly query: string
  /** `http` or `https`, if the bridge knows the scheme. */
  readonly scheme?: string
  /** Returns a header's value; `name` is lowercase. Repeated headers are joined with `, `. */
  header(name: string): string | undefined
  /** Copies the headers with these lowercase names into `into`. Cheaper than calling `header` for many names. */
  copyHeaders(names: ReadonlySet<string>, into: Record<string, string>): void
  /**
   * Reads the body; call it once. Rejects with `PAYLOAD_TOO_LARGE` as soon as the body exceeds `maxBytes`. If the client disconnects, it
   * also rejects, but how soon depends on the platform; use `onAbort` to detect disconnects.
   */
  body(maxBytes: number): Promise<Uint8Array>
  /**
   * Calls `listener` once when the client disconnects, or immediately if it already has. Under `Bun.serve`, the call can be up to 20 ms late in the
   * first 20 ms of a request. Returns a function that removes the listener.
   */
  onAbort(listener: () => void): () => void
  /** Returns the same request as a Fetch `Request` without its body, for your functions. */
  toRequest(): Request
  /** Keeps the platform running until work that outlives the response has settled. */
  waitUntil?(work: Promise<unknown>): void
  /** The runtime's own way to call providers, used unless the `fetch` option is set. */
  readonly upstream?: UpstreamFetch
  /** Additional values that the platform passes with the request, for `identify`. */
  readonly platform?: unknown
  /** The identity of a request from this process, which needs no client key. Never set by a bridge. */
  readonly actsAs?: InternalCaller
}

/** The identity of a request from this process: the operator, or a client key. */
export interface InternalCaller {
  /** The digest of the key to act as; its limits apply. */
  readonly keyDigest?: string
  /** The only connection the request may use, even if it is paused or draining. */
  readonly connectionId?: string
}

/** A gateway response. A string body is sent as UTF-8. */
export interface Reply {
  status: number
  /** Names are lowercase. */
  headers: Record<string, string>
  /** Values of `set-cookie`; each is sent as a separate header. */
  cookies?: readonly string[]
  body?: string | Uint8Array | ByteStream
}

/** A call to a provider or to the cloud proxy. */
export interface UpstreamCall {
  url: string
  method: 'GET' | 'POST' | 'DELETE'
  headers: Record<string, string>
  body?: string | Uint8Array
}

/** A provider's response, in the smallest form that every HTTP client can provide. */
export interface UpstreamResponse {
  status: number
  /** `name` is lowercase. */
  header(name: string): string | undefined
  /** All headers, with lowercase names. */
  headers(): Iterable<[string, string]>
  body: ByteStream
}

/**
 * A call in flight: `response` resolves when the headers arrive. `cancel` ends the call at any point: a pending `response`, or a `next()`
 * or `whole()` of its body, then rejects immediately with the given reason.
 */
export interface PendingResponse {
  response: Promise<UpstreamResponse>
  cancel(reason?: unknown): void
}

/**
 * A function like `fetch`. If it has `raw`, the gateway calls that instead. `raw` must end a call as soon as it is canceled, because the gateway has
 * no other way to end it.
 */
export interface UpstreamFetch {
  (input: string, init?: RequestInit): Promise<Response>
  raw?: (call: UpstreamCall) => PendingResponse
}

/** An empty stream. */
export const EMPTY_STREAM: ByteStream = { next: async () => undefined, cancel() {} }

export function isByteStream(body: Reply['body']): body is ByteStream {
  return typeof body === 'object' && 'next' in body
}
