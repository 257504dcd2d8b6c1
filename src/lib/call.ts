import { streamOf } from './bytes.ts'
import type { PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from './exchange.ts'

/** Starts one call to a provider. Redirects are never followed: they would carry credentials elsewhere (security.md, rule 5). */
export function startCall(fetch: UpstreamFetch, call: UpstreamCall): PendingAnswer {
  if (fetch.raw) return fetch.raw(call)
  const abort = new AbortController()
  const init: RequestInit = { method: call.method, headers: call.headers, redirect: 'manual', signal: abort.signal }
  if (call.method === 'GET') init.cache = 'no-store'
  if (call.body !== undefined) init.body = call.body as BodyInit // TypeScript wants to know that the bytes are not shared memory
  return {
    answer: send(fetch, call.url, init),
    cancel: (reason) => abort.abort(reason),
  }
}

async function send(fetch: UpstreamFetch, url: string, init: RequestInit): Promise<UpstreamAnswer> {
  const response = await fetch(url, init)
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    headers: () => response.headers,
    body: streamOf(response.body),
  }
}
