import type { ByteStream, PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from './exchange.ts'
import { bodyOf } from './fetch-body.ts'
import { fieldsOf } from './header-fields.ts'

/**
 * Starts one call to a provider. Redirects are not followed: they would carry credentials elsewhere (security.md, rule 5). Once it is
 * cancelled, pending reads reject at once, even if `fetch` ignores its signal.
 */
export function startCall(fetch: UpstreamFetch, call: UpstreamCall): PendingAnswer {
  return fetch.raw ? fetch.raw(call) : new FetchCall(fetch, call)
}

/** A call by `fetch`. */
class FetchCall implements PendingAnswer {
  readonly answer: Promise<UpstreamAnswer>
  readonly #abort = new AbortController()
  #cancelled: { reason: unknown } | undefined = undefined
  #rejectWait: ((reason: unknown) => void) | undefined = undefined
  #source: ByteStream | undefined = undefined

  constructor(fetch: UpstreamFetch, call: UpstreamCall) {
    this.answer = new Promise((resolve, reject) => {
      this.#rejectWait = reject
      Promise.resolve(fetch(call.url, initOf(call, this.#abort.signal))) // for one that is not async
        .then((response) => resolve(this.#answered(response)))
        .catch(reject)
    })
  }

  cancel(reason?: unknown): void {
    if (this.#cancelled) return
    this.#cancelled = { reason }
    this.#rejectWait?.(reason)
    this.#abort.abort(reason)
    this.#source?.cancel(reason)
  }

  /** At most one chunk is waited for at a time. */
  wait<T>(begin: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#cancelled) reject(this.#cancelled.reason)
      this.#rejectWait = reject
      begin().then(resolve, reject)
    })
  }

  #answered(response: Response): UpstreamAnswer {
    const fields = fieldsOf(response.headers)
    const body = bodyOf(response, fields)
    if (this.#cancelled)
      body.cancel(this.#cancelled.reason) // it comes too late
    else this.#source = body
    return {
      status: response.status,
      header: (name) => fields.get(name),
      headers: () => fields.all(),
      body: new CallBody(this, body),
    }
  }
}

/** The body of a call's answer. */
class CallBody implements ByteStream {
  declare readonly whole?: () => Promise<Uint8Array>
  readonly #call: FetchCall
  readonly #source: ByteStream

  constructor(call: FetchCall, source: ByteStream) {
    this.#call = call
    this.#source = source
    const { whole } = source
    if (whole) this.whole = () => call.wait(() => whole.call(source))
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#call.wait(() => this.#source.next())
  }

  cancel(reason?: unknown): void {
    this.#call.cancel(reason)
  }
}

function initOf({ method, headers, body }: UpstreamCall, signal: AbortSignal): RequestInit {
  const init: RequestInit = { method, headers, redirect: 'manual', signal }
  if (method === 'GET') init.cache = 'no-store'
  if (body !== undefined) init.body = body as BodyInit // TypeScript wants to know that the bytes are not shared memory
  return init
}
