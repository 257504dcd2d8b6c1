import { getResponse, type RequestHandler } from 'msw'

/** A `fetch` whose providers are msw handlers, and every request that it was given, in order. */
export interface Upstream {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  readonly requests: Request[]
}

/**
 * No global is patched and no port is opened. `HttpResponse.error()` becomes the TypeError of a broken connection, as does a request
 * that no handler wants; an abort rejects the call, and cuts the body when the headers are already here.
 */
export function upstream(...handlers: RequestHandler[]): Upstream {
  const requests: Request[] = []

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    requests.push(request.clone())
    const { signal } = request
    const left = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    })
    left.catch(() => {}) // nobody may be listening any more
    signal.throwIfAborted()
    const response = await Promise.race([getResponse(handlers, request), left])
    if (!response) throw new TypeError(`fetch failed: no handler for ${request.method} ${request.url}`)
    if (response.type === 'error') throw new TypeError('fetch failed')
    return response.body ? withBody(response, abortable(response.body, left)) : response
  }

  return Object.assign(fetch, { requests })
}

const withBody = ({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>) =>
  new Response(body, { status, statusText, headers })

/** The same bytes, one pull at a time, until `left` rejects. */
function abortable(body: ReadableStream<Uint8Array>, left: Promise<never>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const cancel = (reason: unknown) => reader.cancel(reason).catch(() => {}) // the source may have failed by itself
  return new ReadableStream(
    {
      start: (controller) =>
        void left.catch((reason: unknown) => {
          controller.error(reason)
          return cancel(reason)
        }),
      async pull(controller) {
        const { done, value } = await Promise.race([reader.read(), left])
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel,
    },
    { highWaterMark: 0 },
  )
}
