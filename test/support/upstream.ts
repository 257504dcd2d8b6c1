import { getResponse, type RequestHandler } from 'msw'

/** A `fetch` with msw handlers in place of providers. It records every request, in order. */
export interface Upstream {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  readonly requests: Request[]
}

/**
 * Creates the upstream without patching globals or opening ports. `HttpResponse.error()` and requests without a handler cause a TypeError like a
 * broken connection. Aborting rejects the call, or cuts off the body if the headers have already arrived.
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
    left.catch(() => {}) // avoids an unhandled rejection if nothing is listening anymore
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

/** Returns the same bytes, one chunk per pull, until `left` rejects. */
function abortable(body: ReadableStream<Uint8Array>, left: Promise<never>): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const cancel = (reason: unknown) => reader.cancel(reason).catch(() => {}) // the source may have failed on its own
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
