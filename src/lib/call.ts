import type { ByteStream, PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from './exchange.ts'
import { bodyOf } from './fetch-body.ts'
import { fieldsOf } from './header-fields.ts'

/**
 * Starts one call to a provider. Redirects are not followed: they would carry credentials elsewhere (security.md, rule 5). Once it is
 * cancelled, pending reads reject at once, even if `fetch` ignores its signal.
 */
export function startCall(fetch: UpstreamFetch, call: UpstreamCall): PendingAnswer {
  return fetch.raw ? fetch.raw(call) : callByFetch(fetch, call)
}

function callByFetch(fetch: UpstreamFetch, call: UpstreamCall): PendingAnswer {
  const abort = new AbortController()
  let cancelled: { reason: unknown } | undefined
  let rejectWait: ((reason: unknown) => void) | undefined
  let source: ByteStream | undefined

  /** At most one wait at a time: the headers, then one chunk after the other. */
  function wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (cancelled) reject(cancelled.reason)
      rejectWait = reject
      promise.then(resolve, reject)
    })
  }

  async function answer(): Promise<UpstreamAnswer> {
    const response = await fetch(call.url, initOf(call, abort.signal))
    const fields = fieldsOf(response.headers)
    const body = bodyOf(response, fields.get)
    if (cancelled)
      body.cancel(cancelled.reason) // it comes too late
    else source = body
    const { whole } = body
    const guarded: ByteStream = { next: () => wait(body.next()), cancel }
    if (whole) guarded.whole = () => wait(whole())
    return {
      status: response.status,
      header: fields.get,
      headers: fields.all,
      body: guarded,
    }
  }

  function cancel(reason?: unknown) {
    if (cancelled) return
    cancelled = { reason }
    rejectWait?.(reason)
    abort.abort(reason)
    source?.cancel(reason)
  }

  return { answer: wait(answer()), cancel }
}

function initOf({ method, headers, body }: UpstreamCall, signal: AbortSignal): RequestInit {
  const init: RequestInit = { method, headers, redirect: 'manual', signal }
  if (method === 'GET') init.cache = 'no-store'
  if (body !== undefined) init.body = body as BodyInit // TypeScript wants to know that the bytes are not shared memory
  return init
}
