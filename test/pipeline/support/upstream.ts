import type { Clock } from '../../../src/types.ts'
import type { Fetch } from './world.ts'

/** A call made by the gateway. */
export interface Call {
  url: URL
  /** `one` for `http://one.test`. */
  provider: string
  headers: Headers
  init: RequestInit
  body: string
  signal: AbortSignal
}

export interface FakeUpstream extends Fetch {
  readonly calls: Call[]
  /** The providers that were called, in order. */
  readonly providers: string[]
  /** The number of calls that have neither ended nor been canceled. */
  readonly open: number
  /** The number of bytes read from all bodies. */
  readonly pulled: number
}

export type Respond = (call: Call, nth: number) => Response | Promise<Response>

/** Creates providers as a single `fetch` function, and tracks open calls. Aborting ends a call in any phase, as with a real `fetch`. */
export function fakeUpstream(respond: Respond): FakeUpstream {
  const calls: Call[] = []
  const open = new Set<Call>()
  let pulled = 0

  async function fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const url = new URL(String(input))
    const call: Call = {
      url,
      provider: url.hostname.replace('.test', ''),
      headers: new Headers(init.headers),
      init,
      body: String(init.body ?? ''),
      signal: init.signal ?? new AbortController().signal,
    }
    calls.push(call)
    open.add(call)
    call.signal.addEventListener('abort', () => open.delete(call))
    try {
      const response = await untilAborted(Promise.resolve(respond(call, calls.length)), call.signal)
      if (!response.body) open.delete(call)
      return response.body ? over(response, count(response.body, call)) : response
    } catch (error) {
      open.delete(call)
      throw error
    }
  }

  function count(body: ReadableStream<Uint8Array>, call: Call): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    const leave = () => open.delete(call)
    return new ReadableStream(
      {
        start(controller) {
          call.signal.addEventListener('abort', () => {
            controller.error(call.signal.reason)
            reader.cancel(call.signal.reason).catch(() => {})
          })
        },
        async pull(controller) {
          const { done, value } = await reader.read().catch((error: unknown) => {
            leave()
            throw error
          })
          if (call.signal.aborted) return
          if (done) {
            leave()
            return controller.close()
          }
          pulled += value.length
          controller.enqueue(value)
        },
        cancel(reason) {
          leave()
          return reader.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }

  return Object.defineProperties(fetch as FakeUpstream, {
    calls: { value: calls },
    providers: { get: () => calls.map((call) => call.provider) },
    open: { get: () => open.size },
    pulled: { get: () => pulled },
  })
}

const over = ({ status, statusText, headers }: Response, body: ReadableStream<Uint8Array>) =>
  new Response(body, { status, statusText, headers })

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason))
    promise.then(resolve, reject)
  })
}

/** Returns a response that never arrives. */
export const never = (): Promise<never> => new Promise(() => {})

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })

/** How a body ends after its last chunk. */
export type End = 'close' | 'error' | 'hang'

const encoder = new TextEncoder()

type Chunks = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>

/** Creates a body that returns one chunk per pull. */
export function getBody(chunks: Chunks, end: End = 'close'): ReadableStream<Uint8Array> {
  const rest = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await rest.next()
        if (!done) return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
        if (end === 'close') controller.close()
        else if (end === 'error') controller.error(new TypeError('terminated'))
        else return never()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Yields each chunk `ms` after the previous one. */
export async function* slowly(clock: Clock, chunks: Iterable<string>, ms: number): AsyncIterable<string> {
  for (const chunk of chunks) {
    await clock.sleep(ms)
    yield chunk
  }
}

export const sse = (chunks: Chunks | string, end: End = 'close'): Response =>
  new Response(getBody(typeof chunks === 'string' ? [chunks] : chunks, end), {
    headers: { 'content-type': 'text/event-stream' },
  })
