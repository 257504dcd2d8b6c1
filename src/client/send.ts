import type { Clock } from '../types.ts'
import { ClientError, type ClientErrorCode } from './error.ts'
import { platformTimer } from './platform.ts'
import type { ClientRequest } from './routes.ts'

/** The address, token and platform of requests. */
export interface SendOptions {
  /** The absolute address of the gateway, without a trailing slash. */
  base: string
  token: string | undefined
  fetch: typeof fetch
  clock: Clock | undefined
}

/** How long the client waits for operations that have no time-out of their own, in ms. */
const USUAL_MS = 30_000

/** The response to a request of the client. Rejects with a `ClientError` when there is none, or a redirect. */
async function respond({ base, token, fetch }: SendOptions, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers({ accept: 'application/json', ...init.headers })
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  const response = await attempt(
    () => fetch(base + path, { redirect: 'manual', ...init, headers }),
    (why) => `The gateway at ${base} cannot be reached${why}. Is it running, and the address right?`,
  )
  if (!isRedirect(response)) return response
  response.body?.cancel().catch(() => {}) // the body is not needed, and would keep the connection in use
  throw redirected(base, response)
}

/** The whole text of a response. */
const textOf = (base: string, response: Response) =>
  attempt(
    () => response.text(),
    (why) => `The connection to ${base} ended before the whole answer had come${why}.`,
  )

/** Opens a stream of server-sent events. Rejects with a `ClientError`. */
export async function openEvents(options: SendOptions, path: string, init: RequestInit) {
  const response = await respond(options, path, init)
  if (response.ok && response.body && response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response.body
  bodyOf(options.base, response, await textOf(options.base, response))
  throw unexpected(options.base, response, 'without events')
}

/** Sends requests; resolves to the body of the response, and rejects with a `ClientError`. */
export function createSend(options: SendOptions) {
  const { base, clock } = options

  async function exchange({ method, path, body, ifMatch }: ClientRequest, signal: AbortSignal): Promise<object> {
    const headers: Record<string, string> = {}
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (ifMatch !== undefined) headers['if-match'] = ifMatch
    const content = body !== undefined && { body: jsonOf(body) }
    const response = await respond(options, path, { method, signal, headers, ...content })
    return bodyOf(base, response, await textOf(base, response))
  }

  return (request: ClientRequest): Promise<object> =>
    new Promise((resolve, reject) => {
      const { timeoutMs = USUAL_MS } = request
      const stop = new AbortController()
      const cancelTimer = startTimer(clock, timeoutMs, () => {
        const message = `Time-out: the gateway at ${base} has not answered within ${timeoutMs / 1000} s.`
        reject(new ClientError(408, message, { code: 'TIMEOUT' }))
        stop.abort()
      })
      exchange(request, stop.signal).then(resolve, reject).finally(cancelTimer) // a `fetch` that ignores the signal settles later, without effect
    })
}

/** Calls `onTime` once after `ms`. Returns the function that cancels it. */
export function startTimer(clock: Clock | undefined, ms: number, onTime: () => void): () => void {
  if (!clock) return platformTimer(ms, onTime)
  if (clock.setTimer) return clock.setTimer(ms, onTime)
  const stop = new AbortController()
  clock.sleep(ms, stop.signal).then(onTime, () => {}) // cancelled
  return () => stop.abort()
}

function jsonOf(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    throw new ClientError(400, 'The input cannot be written as JSON.', { code: 'INVALID_ARGUMENT', cause })
  }
}

/** Runs a step that uses the network; `messageFor` gets the platform's reason in parentheses, or the empty text. */
async function attempt<T>(step: () => Promise<T>, messageFor: (why: string) => string): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    throw new ClientError(0, messageFor(reasonOf(cause)), { code: 'UNREACHABLE', cause })
  }
}

/** Why no connection was made, as far as the platform reports it: Node has the reason in the cause of its error "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {}
  if (!(cause instanceof Error)) return ''
  const reason = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
  return reason === '' ? '' : ` (${reason})`
}

/** Is the response a redirect? Of a redirect that is not followed, a page sees only the type `opaqueredirect`. */
const isRedirect = ({ type, status }: Response) => type === 'opaqueredirect' || (status >= 300 && status < 400)

function redirected(base: string, { status, headers }: Response): ClientError {
  const location = headers.get('location')
  const target = location !== null && URL.canParse(location, base) ? new URL(location, base) : undefined
  const where = target ? ` to ${target.origin}${target.pathname}` : '' // without the query, which may contain what must not be logged
  return new ClientError(
    status,
    `${base} redirects${where}. Redirects are not followed, as the token would go along: give the address of the gateway itself.`,
    { code: 'REDIRECTED' },
  )
}

/** The body of a response. Throws when the response is an error, or its body is no JSON object. */
function bodyOf(base: string, response: Response, text: string): object {
  const { ok, status, headers } = response
  const body = objectIn(text)
  if (body && ok) return body
  const message = body && messageIn(body)
  if (message !== undefined) throw new ClientError(status, message, { current: body && currentIn(body) })
  const type = headers.get('content-type')?.split(';')[0] || 'no content type'
  const what = body ? 'without an error text' : `with ${text === '' ? 'no body' : type}, not with JSON`
  throw unexpected(base, response, what)
}

function unexpected(base: string, { status }: Response, what: string): ClientError {
  const code: ClientErrorCode = 'UNEXPECTED_ANSWER'
  return new ClientError(status, `${base} has answered ${status} ${what}: is it the address of a gateway?`, { code })
}

/** The JSON object in a text; `undefined` where there is none. */
export function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The present record in the 409 response to a change that was based on an older version. */
function currentIn({ current }: { current?: unknown }): object | undefined {
  return typeof current === 'object' && current !== null ? current : undefined
}

/** The text of an error: of `{ error: string }`, and of `{ error: { message } }`, which paths under `/v1` send. */
function messageIn(body: { error?: unknown }): string | undefined {
  const { error } = body
  const text = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return typeof text === 'string' && text !== '' ? text : undefined
}
