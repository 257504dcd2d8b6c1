/** Responds to a call in place of the proxy. `answer` is the proxy's own response, if it handled the call. */
export type Respond = (url: string, init: RequestInit, answer?: Response) => Promise<Response>

const never = () => new Promise<never>(() => {})

/** Ignores its signal, like some HTTP clients. */
const deaf: Respond = never

const getBody = (start: (controller: ReadableStreamDefaultController<Uint8Array>) => void, headers = {}) =>
  new Response(new ReadableStream({ start }), { headers: { 'content-type': 'application/json', ...headers } })

const failWith = (code: string) => async () => {
  throw Object.assign(new TypeError('fetch failed'), { cause: Object.assign(new Error(code), { code }) })
}

const json = (status: number, body: unknown) => async () =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })

/** Proxy and network faults, with the expected status and message of the action's response. */
export const faults: Readonly<Record<string, { respond: Respond; status: 502 | 504; message: RegExp }>> = {
  'the port is closed': { respond: failWith('ECONNREFUSED'), status: 502, message: /is unreachable \(ECONNREFUSED\)/ },
  "the host name doesn't resolve": {
    respond: failWith('ENOTFOUND'),
    status: 502,
    message: /is unreachable \(ENOTFOUND\).*DNS/,
  },
  'the connection breaks': {
    respond: async () => {
      throw new TypeError('fetch failed: authorization: Bearer secret')
    },
    status: 502,
    message: /is unreachable\. Check "cloudUrl"/,
  },
  'no headers arrive': { respond: deaf, status: 504, message: /did not respond within \d+ s/ },
  'no body arrives': { respond: async () => getBody(() => {}), status: 504, message: /did not respond within/ },
  'the body stalls': {
    respond: async () => getBody((body) => body.enqueue(new TextEncoder().encode('{"service":'))),
    status: 504,
    message: /did not respond within/,
  },
  'the body is cut off': {
    respond: async () => getBody((body) => body.error(new TypeError('terminated'))),
    status: 502,
    message: /is unreachable/,
  },
  'an HTML page': {
    respond: async () => new Response('<h1>Welcome</h1>', { headers: { 'content-type': 'text/html' } }),
    status: 502,
    message: /There is no Signalbox cloud proxy at/,
  },
  'an error page': {
    respond: async () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
    status: 502,
    message: /There is no Signalbox cloud proxy at .* it returned 502/,
  },
  'a redirect': {
    respond: async () => new Response(null, { status: 302, headers: { location: 'https://elsewhere.example/' } }),
    status: 502,
    message: /redirects, and redirects are not followed. Set "cloudUrl"/,
  },
  'JSON with the wrong content type': {
    respond: async () => new Response('{"service":"signalbox-cloud","protocol":1}'),
    status: 502,
    message: /without JSON/,
  },
  'another service': { respond: json(200, { ok: true }), status: 502, message: /.*/ },
  'a list': { respond: json(200, [1]), status: 502, message: /.*/ },
  'broken JSON': {
    respond: async () => new Response('{"serv', { headers: { 'content-type': 'application/json' } }),
    status: 502,
    message: /without JSON/,
  },
  'deep JSON': {
    respond: async () => new Response('['.repeat(100_000), { headers: { 'content-type': 'application/json' } }),
    status: 502,
    message: /without JSON/,
  },
  'a huge response': {
    respond: async () =>
      new Response(
        new ReadableStream(
          { pull: (body) => body.enqueue(new Uint8Array(1024 * 1024).fill(32)) },
          { highWaterMark: 0 },
        ),
        { headers: { 'content-type': 'application/json' } },
      ),
    status: 502,
    message: /its response never ends/,
  },
  'a 404 in JSON': { respond: json(404, { error: 'Not found' }), status: 502, message: /it returned 404/ },
  'a rejection': {
    respond: json(401, { error: 'Not known here.\nAsk again', code: 'NOT_KNOWN' }),
    status: 502,
    message: /rejected the request: Not known here\. Ask again$/,
  },
}

/** Creates a `fetch` that counts open calls: those with neither a complete response nor an abort. */
export function countCalls(respond: Respond) {
  const calls: { url: string; init: RequestInit }[] = []
  let open = 0

  async function fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    calls.push({ url: String(input), init })
    open++
    let isOver = false
    const end = () => {
      if (!isOver) open--
      isOver = true
    }
    init.signal?.addEventListener('abort', end)
    try {
      const response = await respond(String(input), init)
      if (!response.body) end()
      return response.body ? new Response(count(response.body, end), response) : response
    } catch (error) {
      end()
      throw error
    }
  }

  return { fetch, calls, open: () => open }
}

/** Passes the same bytes through, and reports when they have all been read or the reader cancels. */
function count(body: ReadableStream<Uint8Array>, end: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          end()
          throw error
        })
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      },
      cancel(reason) {
        end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}
