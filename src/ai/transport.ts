import type { Gateway } from '../gateway.ts'
import { toBase64 } from '../lib/bytes.ts'
import { isByteStream, type Reply } from '../lib/exchange.ts'
import { MadeExchange } from '../lib/made-exchange.ts'
import { withoutTrailing } from '../lib/urls.ts'

/** The parts of a gateway that models in its process use. */
export type GatewayInProcess = Pick<Gateway, 'exchange' | 'basePath' | 'fetch'>

/** One request: its path below where the gateway is mounted, its headers in lower case, and its body as JSON. */
interface Sent {
  path: string
  headers: Readonly<Record<string, string>>
  body: string
  signal: AbortSignal | undefined
}

/** Sends a request. Rejects with the reason of the signal when that is aborted before the response. */
export type Transport = (sent: Sent) => Promise<Response>

/** Asks a gateway in this process: as the host, which needs no key, or with a key. */
export function inProcess(gateway: GatewayInProcess, apiKey: string | undefined): Transport {
  if (apiKey !== undefined)
    return overFetch({ baseURL: `http://gateway${gateway.basePath}`, apiKey, fetch: gateway.fetch })
  return async ({ path, headers, body, signal }) => {
    signal?.throwIfAborted()
    const reply = await gateway.exchange(
      new MadeExchange({
        path: `${gateway.basePath}${path}`,
        body,
        headers: new Map(Object.entries(headers)),
        actsAs: {},
        outer: { onAbort: (listener) => onAbort(signal, listener) },
      }),
    )
    signal?.throwIfAborted()
    return responseOf(reply ?? { status: 404, headers: {} }, signal)
  }
}

function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  signal?.addEventListener('abort', listener, { once: true })
  return () => signal?.removeEventListener('abort', listener)
}

function responseOf({ status, headers, body }: Reply, signal: AbortSignal | undefined): Response {
  if (!isByteStream(body)) return new Response(body === undefined ? null : (body as BodyInit), { status, headers }) // never shared memory
  const stream = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        signal?.addEventListener('abort', () => controller.error(signal.reason), { once: true })
      },
      async pull(controller) {
        const chunk = await body.next()
        if (signal?.aborted) return // the stream has failed already
        if (chunk) controller.enqueue(chunk)
        else controller.close()
      },
      cancel: (reason) => body.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers })
}

/** Asks a gateway by its address, with or without the path of the AI SDK's protocol. */
export function overFetch({
  baseURL,
  apiKey,
  fetch,
}: {
  baseURL: string
  apiKey: string | undefined
  fetch: (url: string, init: RequestInit) => Promise<Response>
}): Transport {
  const root = withoutTrailing(baseURL, '/').replace(/\/v\d+(?:\/ai)?$/, '')
  return ({ path, headers, body, signal }) =>
    fetch(root + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers, ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body,
      ...(signal && { signal }),
    })
}

/** The options of a call as JSON, with bytes as base64. The bytes are taken from their holder, as `JSON.stringify` passes a `Buffer` on as an object. */
export const jsonOf = (value: object): string =>
  JSON.stringify(value, function (this: Record<string, unknown>, name, given) {
    const own = this[name]
    return own instanceof Uint8Array ? toBase64(own) : given
  })
