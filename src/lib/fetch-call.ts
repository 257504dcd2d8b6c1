import { type ByteStream, NO_BYTES, type PendingAnswer, type UpstreamAnswer, type UpstreamCall } from './exchange.ts'
import { bodyOf } from './fetch-body.ts'
import { fieldsOf, type HeaderFields } from './header-fields.ts'

/** The part of `fetch` that calls need. */
export type PlainFetch = (url: string, init: RequestInit) => Promise<Response>

/** What calls by the same `fetch` have in common. */
export interface FetchCallTerms {
  /** Awaited before `fetch` is called, so that the calls of a batch are made one directly behind the other. */
  gather?: () => Promise<void>
  /** Awaited between the arrival of the headers and their being read, so that answers are handled in batches. */
  turn?: () => Promise<void>
  /**
   * A call takes a controller from it, and gives it back when its body has come to its end. Only for a `fetch` that has let go of the signal
   * by then.
   */
  pool?: AbortController[]
}

/** A call by `fetch`, which is also the body of its answer. It ends when `fetch` ends it, by its signal. */
export class FetchCall implements PendingAnswer, ByteStream {
  readonly answer: Promise<UpstreamAnswer>
  readonly #terms: FetchCallTerms
  #abort: AbortController | undefined
  #cancelled: { reason: unknown } | undefined = undefined
  #source: ByteStream = NO_BYTES // as long as there is no answer

  constructor(fetch: PlainFetch, call: UpstreamCall, terms: FetchCallTerms = {}) {
    const abort = terms.pool?.pop() ?? new AbortController()
    this.#terms = terms
    this.#abort = abort
    this.answer = this.#open(fetch, call, abort.signal)
  }

  async next(): Promise<Uint8Array | undefined> {
    try {
      const chunk = await this.#source.next()
      if (!chunk) this.#over()
      if (!this.#cancelled) return chunk // a reader that is cancelled ends as if the stream were over
    } catch (thrown) {
      throw this.#reasonOf(thrown)
    }
    throw this.#cancelled.reason
  }

  whole(): Promise<Uint8Array> | undefined {
    if (this.#cancelled) return Promise.reject(this.#cancelled.reason)
    return this.#source.whole?.()?.then(
      (bytes) => {
        this.#over()
        if (this.#cancelled) throw this.#cancelled.reason
        return bytes
      },
      (thrown) => {
        throw this.#reasonOf(thrown)
      },
    )
  }

  cancel(reason?: unknown): void {
    if (this.#cancelled) return
    this.#cancelled = { reason }
    this.#abort?.abort(reason)
    this.#source.cancel(reason)
  }

  async #open(fetch: PlainFetch, call: UpstreamCall, signal: AbortSignal): Promise<UpstreamAnswer> {
    const { gather, turn } = this.#terms
    try {
      if (gather) await gather()
      const response = await fetch(call.url, initOf(call, signal))
      if (turn) await turn()
      const fields = fieldsOf(response.headers)
      this.#source = bodyOf(response, fields)
      if (!this.#cancelled) return new FetchAnswer(response.status, fields, this)
    } catch (thrown) {
      throw this.#reasonOf(thrown)
    }
    this.#source.cancel(this.#cancelled.reason) // it comes too late
    throw this.#cancelled.reason
  }

  /** Everything has come: its signal, which now nobody aborts, can be that of another call. */
  #over(): void {
    const abort = this.#abort
    if (!abort || this.#cancelled) return
    this.#abort = undefined
    this.#terms.pool?.push(abort)
  }

  /** Why the call has failed; platforms reject with a reason like that of `cancel`, if not the same. */
  #reasonOf(thrown: unknown): unknown {
    return this.#cancelled ? this.#cancelled.reason : thrown
  }
}

/** The answer of a call by `fetch`. */
class FetchAnswer implements UpstreamAnswer {
  readonly status: number
  readonly body: ByteStream
  readonly #fields: HeaderFields

  constructor(status: number, fields: HeaderFields, body: ByteStream) {
    this.status = status
    this.body = body
    this.#fields = fields
  }

  header(name: string): string | undefined {
    return this.#fields.get(name)
  }

  headers(): Iterable<[string, string]> {
    return this.#fields.all()
  }
}

/** Redirects are not followed: they would carry credentials elsewhere (security.md, rule 5). */
function initOf({ method, headers, body }: UpstreamCall, signal: AbortSignal): RequestInit {
  const init: RequestInit = { method, headers, redirect: 'manual', signal }
  if (method === 'GET') init.cache = 'no-store'
  if (body !== undefined) init.body = body as BodyInit // TypeScript wants to know that the bytes are not shared memory
  return init
}
