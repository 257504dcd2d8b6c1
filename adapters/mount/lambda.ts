import type { FetchGateway } from '../types/gateway-types.ts'
import type {
  LambdaHandler,
  LambdaHead,
  LambdaResponseStream,
  LambdaRuntime,
  LambdaUrlEvent,
} from '../types/lambda-types.ts'
import { checkGateway } from './lib/check-gateway.ts'
import { createRejection } from './lib/rejection.ts'

export type { FetchGateway } from '../types/gateway-types.ts'
export type { LambdaContext, LambdaHandler, LambdaResponseStream, LambdaUrlEvent } from '../types/lambda-types.ts'

/** How long before the function times out to abort the gateway's work, in ms. */
const ABORT_MARGIN_MS = 500

/** How long background work may delay aborting a response, in ms. */
const MAX_ABORT_DELAY_MS = 200

const TIMEOUT_MESSAGE = 'The function ran out of time.'

/**
 * Creates a handler for an AWS Lambda function URL with the invoke mode `RESPONSE_STREAM`. Lambda doesn't notify a function when its client
 * disconnects. Requests that aren't finished half a second before the function times out are aborted: if the response hasn't started, the client gets
 * a 504; otherwise, the response is cut off. Throws a TypeError outside Lambda's Node runtimes.
 */
export function toLambdaHandler(gateway: FetchGateway): LambdaHandler {
  checkGateway('toLambdaHandler', gateway, 'fetch')
  const { awslambda } = globalThis as { awslambda?: LambdaRuntime } // only Lambda has this global
  if (!awslambda) throw new TypeError('toLambdaHandler only runs in the Node runtimes of AWS Lambda.')

  return awslambda.streamifyResponse(async (event, stream, context) => {
    const call = new AbortController()
    const background: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>) => void background.push(work)
    stream.on('error', () => {}) // `close` always follows and handles the error
    stream.on('close', () => call.abort(new Error('Lambda stopped accepting the response.')))
    const time = startTimer(context.getRemainingTimeInMillis() - ABORT_MARGIN_MS)
    void time.over.then(() => call.abort(new Error(TIMEOUT_MESSAGE)))

    try {
      const request = createRequest(event, call.signal)
      const answer =
        request instanceof Request
          ? await gateway.fetch(request, { event, context }, { waitUntil, platform: event })
          : request
      const isLate = call.signal.aborted
      if (isLate) void answer.body?.cancel().catch(() => {})
      const response = isLate ? createRejection(504, TIMEOUT_MESSAGE) : answer
      const out = awslambda.HttpResponseStream.from(stream, createHead(response))
      out.write('') // sends the headers without waiting for the body
      await pump(response, out, isLate ? undefined : call.signal)
      out.end()
      await Promise.race([Promise.allSettled(background), time.over]) // Lambda freezes the process afterward
    } catch (error) {
      const cut = startTimer(MAX_ABORT_DELAY_MS)
      await Promise.race([Promise.allSettled(background), cut.over])
      cut.clear()
      stream.destroy(new Error('The response was cut off.')) // a rejection alone would let Lambda end the response normally
      throw error
    } finally {
      time.clear()
    }
  })
}

/** Converts an event to a request, or returns an error response if the event is invalid. */
function createRequest(
  { headers = {}, requestContext, ...event }: LambdaUrlEvent,
  signal: AbortSignal,
): Request | Response {
  const { method } = requestContext.http
  try {
    const url = new URL(`https://${requestContext.domainName ?? headers.host ?? 'localhost'}`)
    url.pathname = event.rawPath
    url.search = event.rawQueryString ?? ''
    const fields = new Headers()
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) fields.set(name, toByteString(value))
    if (event.cookies?.length) fields.set('cookie', event.cookies.join('; '))
    const body = method === 'GET' || method === 'HEAD' ? undefined : decodeBody(event)
    return new Request(url, { method, headers: fields, signal, ...(body !== undefined && { body }) })
  } catch {
    return createRejection(400, 'The request is malformed.')
  }
}

/** Converts a header value to bytes, one character per byte: Lambda decodes values as UTF-8, and `Request` only accepts Latin-1. */
const toByteString = (value: string): string =>
  /[^\0-\xff]/.test(value) ? String.fromCharCode(...new TextEncoder().encode(value)) : value

function decodeBody({ body, isBase64Encoded }: Pick<LambdaUrlEvent, 'body' | 'isBase64Encoded'>): BodyInit | undefined {
  if (body === undefined || !isBase64Encoded) return body
  return Uint8Array.from(atob(body), (character) => character.charCodeAt(0))
}

/** Headers that describe the connection to the gateway, not the one to the client. */
const CONNECTION_HEADERS = new Set(['connection', 'keep-alive', 'set-cookie', 'transfer-encoding'])

function createHead({ status, headers }: Response): LambdaHead {
  const fields = [...headers].filter(([name]) => !CONNECTION_HEADERS.has(name))
  return { statusCode: status, headers: Object.fromEntries(fields), cookies: headers.getSetCookie() }
}

/** Writes the body as fast as the client reads it. Rejects if the body is cut off, or if `signal` aborts before the body ends. */
async function pump({ body }: Response, out: LambdaResponseStream, signal: AbortSignal | undefined): Promise<void> {
  if (!body) return
  const reader = body.getReader()
  const abortPromise = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), abortPromise])
      if (done) break
      if (!out.write(value))
        await Promise.race([new Promise<void>((resolve) => out.once('drain', resolve)), abortPromise])
    }
    signal?.throwIfAborted() // an aborted body may end like a complete one
  } catch (error) {
    void reader.cancel(error).catch(() => {})
    throw error
  }
}

function startTimer(ms: number) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms))
  })
  return { over, clear: () => clearTimeout(timer) }
}
