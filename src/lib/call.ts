import {
  type ByteStream,
  NO_BYTES,
  type PendingAnswer,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamFetch,
} from './exchange.ts'
import { bodyOf } from './fetch-body.ts'
import { fieldsOf, type HeaderFields } from './header-fields.ts'

/**
 * Starts one call to a provider. Redirects are not followed: they would carry credentials elsewhere (security.md, rule 5). Once it is
 * cancelled, pending reads reject at once, even if `fetch` ignores its signal.
 */
export function startCall(fetch: UpstreamFetch, call: UpstreamCall): PendingAnswer {
  return fetch.raw ? fetch.raw(call) : new FetchCall(fetch, call)
}

/** A call by `fetch`, which is also the body of its answer. */
class FetchCall implements PendingAnswer, ByteStream {
  readonly answer: Promise<UpstreamAnswer>
  readonly #abort = new AbortController()
  #cancelled: { reason: unknown } | undefined = undefined
  #rejectWait: ((reason: unknown) => void) | undefined = undefined
  #source: ByteStream = NO_BYTES // as long as there is no answer

  constructor(fetch: UpstreamFetch, call: UpstreamCall) {
    this.answer = new Promise((resolve, reject) => {
      this.#rejectWait = reject
      Promise.resolve(fetch(call.url, initOf(call, this.#abort.signal))) // for one that is not async
        .then((response) => resolve(this.#answered(response)))
        .catch(reject)
    })
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#wait(this.#source.next())
  }

  whole(): Promise<Uint8Array> | undefined {
    const bytes = this.#source.whole?.()
    return bytes && this.#wait(bytes)
  }

  cancel(reason?: unknown): void {
    if (this.#cancelled) return
    this.#cancelled = { reason }
    this.#rejectWait?.(reason)
    this.#abort.abort(reason)
    this.#source.cancel(reason)
  }

  /** The result of the work; rejects when the call is cancelled first. At most one chunk is waited for at a time. */
  #wait<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#cancelled) reject(this.#cancelled.reason)
      this.#rejectWait = reject
      work.then(resolve, reject)
    })
  }

  #answered(response: Response): UpstreamAnswer {
    const fields = fieldsOf(response.headers)
    const source = bodyOf(response, fields)
    this.#source = source
    if (this.#cancelled) source.cancel(this.#cancelled.reason) // it comes too late
    return new FetchAnswer(response.status, fields, this)
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

function initOf({ method, headers, body }: UpstreamCall, signal: AbortSignal): RequestInit {
  const init: RequestInit = { method, headers, redirect: 'manual', signal }
  if (method === 'GET') init.cache = 'no-store'
  if (body !== undefined) init.body = body as BodyInit // TypeScript wants to know that the bytes are not shared memory
  return init
}
