import type { Gateway } from '../gateway.ts'
import { toBase64 } from '../lib/bytes.ts'
import { isByteStream, type Reply } from '../lib/exchange.ts'
import { InternalExchange } from '../lib/internal-exchange.ts'
import { trimTrailing } from '../lib/urls.ts'

/** The gateway methods that in-process models use. `gateway.as(…)` also has them. */
export interface GatewayInProcess extends Pick<Gateway, 'exchange' | 'basePath'> {
  fetch(request: string, init?: RequestInit, context?: object): Promise<Response>
  as?: Gateway['as']
}

/** A request: its path below the gateway's base path, lowercase headers, and JSON body. */
interface TransportRequest {
  path: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal | undefined
}

/** Sends a request. Rejects with the signal's reason if the signal aborts before the response arrives. */
export type Transport = (request: TransportRequest) => Promise<Response>

/** Creates a transport to a gateway in this process. Without a key, calls have the same full access as your app. */
export function createInProcessTransport(
  gateway: GatewayInProcess,
  { apiKey, waitUntil }: { apiKey?: string; waitUntil?: (work: Promise<unknown>) => void },
): Transport {
  const platform = waitUntil && { waitUntil: (work: Promise<unknown>) => waitUntil(work) }
  if (apiKey !== undefined)
    return createFetchTransport({
      baseURL: `http://gateway${gateway.basePath}`,
      apiKey,
      fetch: (url, init) => gateway.fetch(url, init, platform),
    })
  return async ({ path, headers, body, signal }) => {
    signal?.throwIfAborted()
    const reply = await gateway.exchange(
      new InternalExchange({
        path: `${gateway.basePath}${path}`,
        body,
        headers: new Map(Object.entries(headers)),
        actsAs: {},
        outerExchange: { onAbort: (listener) => onAbort(signal, listener), ...platform },
      }),
    )
    signal?.throwIfAborted()
    return toResponse(reply ?? { status: 404, headers: {} }, signal)
  }
}

function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  signal?.addEventListener('abort', listener, { once: true })
  return () => signal?.removeEventListener('abort', listener)
}

function toResponse({ status, headers, body }: Reply, signal: AbortSignal | undefined): Response {
  if (!isByteStream(body)) return new Response(body === undefined ? null : (body as BodyInit), { status, headers }) // a reply never uses shared memory
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
      },
      async pull(controller) {
        const chunk = await body.next()
        if (signal?.aborted) return // the stream has already failed
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel: (reason) => body.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers })
}

/** Creates a transport to a gateway's URL, which may include the AI SDK protocol's path. */
export function createFetchTransport({
  baseURL,
  apiKey,
  fetch,
}: {
  baseURL: string
  apiKey: string | undefined
  fetch: (url: string, init: RequestInit) => Promise<Response>
}): Transport {
  const rootUrl = trimTrailing(baseURL, '/').replace(/\/v\d+(?:\/ai)?$/, '')
  return ({ path, headers, body, signal }) =>
    fetch(rootUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body,
      ...(signal && { signal }),
    })
}

/**
 * Encodes call options as JSON with bytes as base64. Reads bytes from `this`, because `JSON.stringify` has already converted a `Buffer` to an object.
 */
export const toJson = (value: object): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, name, encoded) {
    const value = this[name]
    return value instanceof Uint8Array ? toBase64(value) : encoded
  })
