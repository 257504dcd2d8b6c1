/** Bytes that are pulled one chunk at a time; `undefined` ends them, a rejection means that they were cut. */
export interface ByteStream {
  next(): Promise<Uint8Array | undefined>
  /** All of it at once, instead of the first `next()`: where the source has that cheaper. */
  whole?(): Promise<Uint8Array>
  /** Stops the source at once. Safe to call at any time and more than once. */
  cancel(reason?: unknown): void
}

/** What the gateway needs to know of a request. Each runtime's bridge makes one; nothing is computed before it is asked for. */
export interface Exchange {
  /** Upper case. */
  readonly method: string
  /** The URL's path as the platform's URL parser normalises it, still percent-encoded. Authorisation and routing both read this one. */
  readonly path: string
  /** With its `?`, or empty. */
  readonly query: string
  /** `name` in lower case. Repeated headers come joined with `, `. */
  header(name: string): string | undefined
  /** Reads the body once. Throws `PAYLOAD_TOO_LARGE` as soon as `maxBytes` is passed. */
  body(maxBytes: number): Promise<Uint8Array>
  /** Calls `listener` once when the client has left, at once if it has already; answers how to stop listening. */
  onAbort(listener: () => void): () => void
  /** The same request as a Fetch object, for functions of the host; it has no body. */
  toRequest(): Request
  /** Keeps the platform alive for work that outlives the answer. */
  waitUntil?(work: Promise<unknown>): void
  /** The way to call upstreams that fits this runtime, used when the host injected none. */
  readonly upstream?: UpstreamFetch
}

/** What the gateway answers. A string body is sent as UTF-8. */
export interface Reply {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body?: string | Uint8Array | ByteStream
}

/** One call to a provider. */
export interface UpstreamCall {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | Uint8Array
}

/** A provider's answer, read through the least that any HTTP client guarantees. */
export interface UpstreamAnswer {
  status: number
  /** `name` in lower case. */
  header(name: string): string | undefined
  /** All headers, names in lower case. */
  headers(): Iterable<[string, string]>
  body: ByteStream
}

/**
 * A call under way: `answer` settles when the headers are here. `cancel` ends the call in any phase: a pending `answer` or `next()`
 * of its body then rejects at once.
 */
export interface PendingAnswer {
  answer: Promise<UpstreamAnswer>
  cancel(reason?: unknown): void
}

/** A Fetch-like function; one that also offers `raw` is called through it, without building Fetch objects. */
export interface UpstreamFetch {
  (input: string, init?: RequestInit): Promise<Response>
  raw?: (call: UpstreamCall) => PendingAnswer
}

/** Does the body have to be pulled? */
export function isByteStream(body: Reply['body']): body is ByteStream {
  return typeof body === 'object' && 'next' in body
}
