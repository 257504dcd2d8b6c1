import type { Gateway } from '../../../src/gateway.ts'
import type {
  ByteStream,
  Exchange,
  Reply,
  UpstreamCall,
  UpstreamFetch,
  UpstreamResponse,
} from '../../../src/lib/exchange.ts'

/**
 * Calls the gateway through its entry point for framework adapters, with an upstream that doesn't use Fetch objects. This is fast enough to test
 * thousands of break points per second.
 */
export async function askRaw(
  gateway: Gateway,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ reply: Reply; text: string; pieces: number }> {
  const pathname = path.replace(/[?].*/s, '')
  const exchange: Exchange = {
    method: 'POST',
    path: pathname,
    query: path.slice(pathname.length),
    header: (name) => headers[name],
    copyHeaders(names, into) {
      for (const [name, value] of Object.entries(headers)) if (names.has(name)) into[name] = value
    },
    body: async () => new TextEncoder().encode(JSON.stringify(body)),
    onAbort: () => () => {},
    toRequest: () => new Request(`http://gateway${path}`),
  }
  const reply = await gateway.exchange(exchange)
  if (!reply) throw new Error(`${path} is not the gateway's`)
  return { reply, ...(await getText(reply.body)) }
}

async function getText(body: Reply['body']): Promise<{ text: string; pieces: number }> {
  if (body === undefined || typeof body === 'string') return { text: body ?? '', pieces: 1 }
  const decoder = new TextDecoder('utf-8', { fatal: true })
  if (body instanceof Uint8Array) return { text: decoder.decode(body), pieces: 1 }
  let text = ''
  let pieces = 0
  for (let chunk = await body.next(); chunk; chunk = await body.next()) {
    text += decoder.decode(chunk) // no chunk ends in the middle of a character
    pieces++
  }
  return { text, pieces }
}

/** Wraps providers as a `fetch` that only has `raw`. */
export function rawUpstream(
  respond: (call: UpstreamCall) => ByteStream,
  { status = 200, contentType = 'text/event-stream' } = {},
): UpstreamFetch {
  const head = (body: ByteStream): UpstreamResponse => ({
    status,
    header: (name) => (name === 'content-type' ? contentType : undefined),
    headers: () => [['content-type', contentType]],
    body,
  })
  const raw = (call: UpstreamCall) => {
    const body = respond(call)
    return { response: Promise.resolve(head(body)), cancel: body.cancel }
  }
  return Object.assign(() => Promise.reject(new Error('fetch was called, raw was offered')), { raw })
}

/** Creates a stream of the chunks, followed by a normal end or a failure. */
export function getChunks(chunks: Iterable<Uint8Array>, end: 'close' | 'error' = 'close'): ByteStream {
  const rest = chunks[Symbol.iterator]()
  return {
    async next() {
      const { done, value } = rest.next()
      if (!done) return value
      if (end === 'error') throw new TypeError('terminated')
      return undefined
    },
    cancel() {},
  }
}

/** Splits bytes at these positions. */
export function* cutAt(bytes: Uint8Array, places: Iterable<number>): Iterable<Uint8Array> {
  let start = 0
  for (const place of places) {
    if (place > start) yield bytes.subarray(start, place)
    start = Math.max(start, place)
  }
  if (start < bytes.length) yield bytes.subarray(start)
}
