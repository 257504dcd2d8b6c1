import { type GatewayError, gatewayError, isGatewayError } from '../../errors.ts'
import { decodeUtf8Lenient, readAll } from '../../lib/bytes.ts'
import type { PendingResponse, UpstreamCall, UpstreamFetch } from '../../lib/exchange.ts'
import { startCall } from '../../lib/fetch-call.ts'
import { isObject, type JsonObject, tryParseShallow } from '../../lib/json.ts'
import { type Hello, MAX_MESSAGE_BYTES, PROTOCOL_VERSION, paths } from './protocol.ts'

/** A call to a path below the proxy's URL, with a JSON body. */
export interface ProxyCall {
  method: UpstreamCall['method']
  path: string
  headers?: Record<string, string>
  body?: string
  /** A part of the body to redact from errors, because the server may echo it. */
  secret?: string | undefined
}

/** The proxy to call, and the abort signal. When the signal aborts, in-flight calls reject with its reason. */
export interface CallOptions {
  fetch: UpstreamFetch
  cloudUrl: string
  signal: AbortSignal
}

/**
 * Calls the proxy and resolves to the JSON object of a 2xx response. Rejects with `CLOUD_FAILED` if the server is unreachable or not a proxy, or if
 * the proxy rejected the call (`data.refusal` is its code). Doesn't follow redirects. When the signal aborts, cancels the call and rejects
 * immediately.
 */
export async function callProxy(call: ProxyCall, options: CallOptions): Promise<JsonObject> {
  const { status, contentType, text } = await sendCall(call, options)
  if (status === 0 || (status >= 300 && status < 400))
    throw createCloudError(options, 'redirects, and redirects are not followed. Set "cloudUrl" to the final URL')
  const body = isJson(contentType) ? tryParseShallow(text) : undefined
  if (status < 200 || status > 299) throw createRejectionError(options, status, isObject(body) ? body : {}, call.secret)
  if (!isObject(body)) throw createNotProxyError(options, `it returned ${status} without JSON`)
  return body
}

/** Checks that a proxy with this protocol version responds. Rejects with the same errors as `callProxy`. */
export async function checkProxyVersion(options: CallOptions): Promise<void> {
  const hello: Partial<Record<keyof Hello, unknown>> = await callProxy({ method: 'GET', path: paths.hello }, options)
  if (hello.service !== ('signalbox-cloud' satisfies Hello['service']))
    throw createNotProxyError(options, 'another service responded')
  if (hello.protocol === PROTOCOL_VERSION) return
  throw createCloudError(
    options,
    `uses a protocol version other than ${PROTOCOL_VERSION}. Run the same release on both sides`,
  )
}

/**
 * Calls the proxy's `/v1/models` with an API key. Resolves to the status and whether the response is a model list. Rejects with the same errors as
 * `callProxy`.
 */
export async function probeModelList(key: string, options: CallOptions): Promise<{ status: number; isList: boolean }> {
  const headers = { authorization: `Bearer ${key}` }
  const { status, contentType, text } = await sendCall({ method: 'GET', path: '/v1/models', headers }, options)
  const body = isJson(contentType) ? tryParseShallow(text) : undefined
  return { status, isList: isObject(body) && body.object === 'list' && Array.isArray(body.data) }
}

/** Returns whether the proxy rejected a call with one of these codes. */
export const isRejection = (error: unknown, ...codes: readonly string[]): error is GatewayError =>
  isGatewayError(error, 'CLOUD_FAILED') && codes.some((code) => error.data.refusal === code)

/** Creates the error for a response that doesn't follow the protocol. */
export const createInvalidResponseError = (options: Pick<CallOptions, 'cloudUrl'>): GatewayError =>
  createCloudError(options, 'sent a response that does not follow the protocol. Run the same release on both sides')

interface ProxyResponse {
  status: number
  contentType: string
  text: string
}

/** Sends a call and reads the complete response. Aborting the signal ends the call even if the HTTP client ignores the signal. */
function sendCall(call: ProxyCall, options: CallOptions): Promise<ProxyResponse> {
  const { signal, cloudUrl, fetch } = options
  const { method, path, body } = call
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers }
  if (body !== undefined) headers['content-type'] = 'application/json'
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const url = cloudUrl + path
    const pendingResponse = startCall(
      fetch,
      body === undefined ? { url, method, headers } : { url, method, headers, body },
    )
    const handleAbort = () => {
      reject(signal.reason)
      pendingResponse.cancel(signal.reason)
    }
    signal.addEventListener('abort', handleAbort, { once: true })
    readResponse(pendingResponse, options)
      .catch((error: unknown) => {
        pendingResponse.cancel(error)
        throw isGatewayError(error) ? error : createUnreachableError(options, error)
      })
      .finally(() => signal.removeEventListener('abort', handleAbort))
      .then(resolve, reject)
  })
}

async function readResponse(pendingResponse: PendingResponse, options: CallOptions): Promise<ProxyResponse> {
  const response = await pendingResponse.response
  const bytes = await readAll(response.body, MAX_MESSAGE_BYTES, () =>
    createNotProxyError(options, 'its response never ends'),
  )
  return { status: response.status, contentType: response.header('content-type') ?? '', text: decodeUtf8Lenient(bytes) }
}

const isJson = (contentType: string) => /^application\/json\b/i.test(contentType)

function createRejectionError(
  options: CallOptions,
  status: number,
  { code, error }: JsonObject,
  secret = '',
): GatewayError {
  if (typeof code !== 'string' || typeof error !== 'string')
    return createNotProxyError(options, `it returned ${status}`)
  const reason = secret === '' ? error : error.replaceAll(secret, '…')
  return gatewayError('CLOUD_FAILED', {
    message: `${describeProxy(options)} rejected the request: ${reason.slice(0, 300).replace(/\p{Cc}/gu, ' ')}`,
    data: { refusal: code, status },
  })
}

const createNotProxyError = (options: Pick<CallOptions, 'cloudUrl'>, reason: string) =>
  gatewayError('CLOUD_FAILED', {
    message: `There is no Signalbox cloud proxy at ${options.cloudUrl}: ${reason}. Set "cloudUrl" to the URL of the proxy.`,
  })

const createCloudError = (options: Pick<CallOptions, 'cloudUrl'>, problem: string) =>
  gatewayError('CLOUD_FAILED', { message: `${describeProxy(options)} ${problem}.` })

const describeProxy = ({ cloudUrl }: Pick<CallOptions, 'cloudUrl'>) => `The cloud proxy at ${cloudUrl}`

/** Creates the error for an unreachable server. Never quotes the HTTP client's error, which may contain request headers. */
function createUnreachableError(options: CallOptions, error: unknown): GatewayError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  const code =
    isObject(cause) && 'code' in cause && /^\w{1,50}$/.test(String(cause.code)) ? String(cause.code) : undefined
  return createCloudError(
    options,
    `is unreachable${code === undefined ? '' : ` (${code})`}. Check "cloudUrl", and DNS, proxy, and firewall settings`,
  )
}
