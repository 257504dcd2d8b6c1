import type { Clock } from '../types.ts'
import { ClientError, type ClientErrorCode } from './client-error.ts'
import { startPlatformTimer } from './client-platform.ts'
import type { ClientRequest } from './client-request.ts'

/** The base URL, token, and platform functions for requests. */
export interface SendOptions {
  /** The gateway's base URL, without a trailing slash. */
  base: string
  token: string | undefined
  fetch: typeof fetch
  clock: Clock | undefined
}

/** The timeout of operations that don't have their own, in ms. */
const DEFAULT_TIMEOUT_MS = 30_000

/** Sends a request. Rejects with a `ClientError` if there is no response, or if the response is a redirect. */
async function fetchResponse({ base, token, fetch }: SendOptions, path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers({ accept: 'application/json', ...init.headers })
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  const response = await runNetworkStep(
    () => fetch(base + path, { redirect: 'manual', ...init, headers }),
    (reason) => `The gateway at ${base} is unreachable${reason}. Check that it is running and that the URL is right.`,
  )
  if (!isRedirect(response)) return response
  response.body?.cancel().catch(() => {}) // an unread body would keep the connection in use
  throw createRedirectError(base, response)
}

const readText = (base: string, response: Response) =>
  runNetworkStep(
    () => response.text(),
    (reason) => `The connection to ${base} closed before the whole response arrived${reason}.`,
  )

/** Opens a stream of server-sent events. Rejects with a `ClientError`. */
export async function openEvents(options: SendOptions, path: string, init: RequestInit) {
  const response = await fetchResponse(options, path, init)
  if (response.ok && response.body && response.headers.get('content-type')?.startsWith('text/event-stream'))
    return response.body
  parseBody(options.base, response, await readText(options.base, response))
  throw createUnexpectedError(options.base, response, 'without events')
}

/** Sends requests. Resolves to the response body, and rejects with a `ClientError`. */
export function createSend(options: SendOptions) {
  const { base, clock } = options

  async function sendRequest({ method, path, body, ifMatch }: ClientRequest, signal: AbortSignal): Promise<object> {
    const headers: Record<string, string> = {}
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (ifMatch !== undefined) headers['if-match'] = ifMatch
    const bodyInit = body !== undefined && { body: toJson(body) }
    const response = await fetchResponse(options, path, { method, signal, headers, ...bodyInit })
    return parseBody(base, response, await readText(base, response))
  }

  return (request: ClientRequest): Promise<object> =>
    new Promise((resolve, reject) => {
      const { timeoutMs = DEFAULT_TIMEOUT_MS } = request
      const abortController = new AbortController()
      const cancelTimer = startTimer(clock, timeoutMs, () => {
        const message = `Timeout: the gateway at ${base} did not respond within ${timeoutMs / 1000} s.`
        reject(new ClientError(408, message, { code: 'TIMEOUT' }))
        abortController.abort()
      })
      sendRequest(request, abortController.signal).then(resolve, reject).finally(cancelTimer) // if `fetch` ignores the signal, its late result has no effect
    })
}

/** Calls `onExpire` once after `ms`. Returns a function that cancels it. */
export function startTimer(clock: Clock | undefined, ms: number, onExpire: () => void): () => void {
  if (!clock) return startPlatformTimer(ms, onExpire)
  if (clock.setTimer) return clock.setTimer(ms, onExpire)
  const abortController = new AbortController()
  clock.sleep(ms, abortController.signal).then(onExpire, () => {}) // rejects when canceled
  return () => abortController.abort()
}

function toJson(body: unknown): string {
  try {
    return JSON.stringify(body)
  } catch (cause) {
    throw new ClientError(400, 'The input cannot be serialized as JSON.', { code: 'INVALID_ARGUMENT', cause })
  }
}

/** Runs a step that uses the network. `getMessage` receives the platform's reason in parentheses, or an empty string. */
async function runNetworkStep<T>(step: () => Promise<T>, getMessage: (reason: string) => string): Promise<T> {
  try {
    return await step()
  } catch (cause) {
    throw new ClientError(0, getMessage(findReason(cause)), { code: 'UNREACHABLE', cause })
  }
}

/** Returns the platform's reason for a failed connection, if any. Node has it in the cause of its error "fetch failed". */
function findReason(error: unknown): string {
  const { cause = error } = error instanceof Error ? error : {}
  if (!(cause instanceof Error)) return ''
  const reason = 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
  return reason === '' ? '' : ` (${reason})`
}

/** Returns whether the response is a redirect. For redirects that aren't followed, browsers only expose the type `opaqueredirect`. */
const isRedirect = ({ type, status }: Response) => type === 'opaqueredirect' || (status >= 300 && status < 400)

function createRedirectError(base: string, { status, headers }: Response): ClientError {
  const location = headers.get('location')
  const target = location !== null && URL.canParse(location, base) ? new URL(location, base) : undefined
  const locationText = target ? ` to ${target.origin}${target.pathname}` : '' // without the query, which can contain secrets
  return new ClientError(
    status,
    `${base} redirects${locationText}. Redirects are not followed because the token would be sent along. Use the URL of the gateway itself.`,
    { code: 'REDIRECTED' },
  )
}

/** Parses the body. Throws if the response is an error, or if the body isn't a JSON object. */
function parseBody(base: string, response: Response, text: string): object {
  const { ok, status, headers } = response
  const body = parseObject(text)
  if (body && ok) return body
  const message = body && getMessage(body)
  if (message !== undefined) throw new ClientError(status, message, { current: body && getCurrent(body) })
  const type = headers.get('content-type')?.split(';')[0] || 'no content type'
  const description = body ? 'without an error message' : `with ${text === '' ? 'no body' : type} instead of JSON`
  throw createUnexpectedError(base, response, description)
}

function createUnexpectedError(base: string, { status }: Response, description: string): ClientError {
  const code: ClientErrorCode = 'UNEXPECTED_ANSWER'
  return new ClientError(status, `${base} returned ${status} ${description}. Check that it is the URL of a gateway.`, {
    code,
  })
}

/** Parses a JSON object. Returns `undefined` if the text isn't a JSON object. */
export function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the current record from the 409 response to a change that was based on an older revision. */
function getCurrent({ current }: { current?: unknown }): object | undefined {
  return typeof current === 'object' && current !== null ? current : undefined
}

/** Returns an error's message: `{ error: string }`, or `{ error: { message } }` from paths under `/v1`. */
function getMessage(body: { error?: unknown }): string | undefined {
  const { error } = body
  const text = typeof error === 'object' && error !== null && 'message' in error ? error.message : error
  return typeof text === 'string' && text !== '' ? text : undefined
}
