/**
 * A stream of bytes that is pulled chunk by chunk. `next` resolves to `undefined` at the end, and rejects when the stream breaks off. At
 * most one `next` at a time.
 */
export interface ByteStream {
  next(): Promise<Uint8Array | undefined>
  /** Reads the whole stream at once, in place of the first `next()`; `undefined` where that is no cheaper. */
  whole?(): Promise<Uint8Array> | undefined
  /** Stops the source at once. Safe to call at any time and more than once. */
  cancel(reason?: unknown): void
}

/** A request as the gateway sees it; the bridge of each runtime makes one. Each member is computed only when it is used. */
export interface Exchange {
  /** In upper case. */
  readonly method: string
  /** The URL's path as the platform's URL parser normalises it, still percent-encoded. Authorisation and routing both read this one. */
  readonly path: string
  /** With its leading `?`; empty when there is none. */
  readonly query: string
  /** The value of a header; `name` in lower case. Repeated headers are joined with `, `. */
  header(name: string): string | undefined
  /**
   * Copies the headers of these names, in lower case, over what `into` has; values as `header` gives them. Cheaper than calling `header` for
   * each of many names.
   */
  copyHeaders(names: ReadonlySet<string>, into: Record<string, string>): void
  /**
   * Reads the body; may be called once. Rejects with `PAYLOAD_TOO_LARGE` as soon as it has more than `maxBytes`. When the client disconnects,
   * it rejects sooner or later, depending on the platform; `onAbort` reports that as well.
   */
  body(maxBytes: number): Promise<Uint8Array>
  /**
   * Calls `listener` once when the client disconnects, at once if it has disconnected already; under `Bun.serve`, during the first 20 ms of a
   * request, up to 20 ms late. Returns the function that removes the listener.
   */
  onAbort(listener: () => void): () => void
  /** The same request as a Fetch `Request` without its body, for functions of the host. */
  toRequest(): Request
  /** Keeps the platform running until work that outlives the answer has settled. */
  waitUntil?(work: Promise<unknown>): void
  /** The runtime's own way to call providers, used unless the host sets the option `fetch`. */
  readonly upstream?: UpstreamFetch
  /** Set by code of this process alone, and by no bridge: the request needs no client key. */
  readonly actsAs?: Acting
}

/** The identity under which a request is made in this process: the operator, or a client key. */
export interface Acting {
  /** The key that is filed under this digest; its limits hold. */
  readonly keyDigest?: string
  /** The only connection that the request may go to, also while that is paused or draining. */
  readonly connectionId?: string
}

/** An answer of the gateway. A string body is sent as UTF-8. */
export interface Reply {
  status: number
  /** Names in lower case. */
  headers: Record<string, string>
  body?: string | Uint8Array | ByteStream
}

/** One call to a provider or to the cloud proxy. */
export interface UpstreamCall {
  url: string
  method: 'GET' | 'POST' | 'DELETE'
  headers: Record<string, string>
  body?: string | Uint8Array
}

/** A provider's answer, in the smallest form that every HTTP client can give. */
export interface UpstreamAnswer {
  status: number
  /** `name` in lower case. */
  header(name: string): string | undefined
  /** All headers, names in lower case. */
  headers(): Iterable<[string, string]>
  body: ByteStream
}

/**
 * A call under way: `answer` resolves when the headers have arrived. `cancel` ends the call in any phase: a pending `answer`, or `next()` or
 * `whole()` of its body, then rejects with its reason at once.
 */
export interface PendingAnswer {
  answer: Promise<UpstreamAnswer>
  cancel(reason?: unknown): void
}

/**
 * A function like `fetch`. If it has `raw`, calls are made by `raw`, which must end a call as soon as it is cancelled: the gateway has no
 * other way to end it.
 */
export interface UpstreamFetch {
  (input: string, init?: RequestInit): Promise<Response>
  raw?: (call: UpstreamCall) => PendingAnswer
}

/** An empty stream. */
export const NO_BYTES: ByteStream = { next: async () => undefined, cancel() {} }

/** Is the body a stream? */
export function isByteStream(body: Reply['body']): body is ByteStream {
  return typeof body === 'object' && 'next' in body
}
