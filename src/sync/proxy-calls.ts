import { type GatewayError, gatewayError, isGatewayError } from '../errors.ts'
import { decodeUtf8Lenient, readAll } from '../lib/bytes.ts'
import type { PendingAnswer, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import { startCall } from '../lib/fetch-call.ts'
import { isObject, type JsonObject, tryParseShallow } from '../lib/json.ts'
import { type Hello, MAX_MESSAGE_BYTES, PROTOCOL, paths } from './protocol.ts'

/** A call to a path below the address of the proxy. Its body is JSON. */
export interface ProxyCall {
  method: UpstreamCall['method']
  path: string
  headers?: Record<string, string>
  body?: string
  /** A part of the body that no error may show: whoever answers may repeat it. */
  secret?: string | undefined
}

/** Where a call goes, and until when: the reason of the signal is what a call under way rejects with. */
export interface CallOptions {
  fetch: UpstreamFetch
  cloudUrl: string
  signal: AbortSignal
}

/**
 * One call to the proxy; resolves to the JSON object of an answer with a status from 200 to 299. Rejects with `CLOUD_FAILED` when nothing is
 * there, or it is no proxy; its `data.refusal` is the code of the protocol where the proxy refused. Follows no redirects. Rejects at once when
 * the signal is aborted, and ends the call.
 */
export async function callProxy(call: ProxyCall, options: CallOptions): Promise<JsonObject> {
  const { status, type, text } = await request(call, options)
  if (status === 0 || (status >= 300 && status < 400))
    throw failed(options, 'redirects, which is not followed: set "cloudUrl" to the address that it leads to')
  const body = isJson(type) ? tryParseShallow(text) : undefined
  if (status < 200 || status > 299) throw refusal(options, status, isObject(body) ? body : {}, call.secret)
  if (!isObject(body)) throw noProxy(options, `it answered ${status} without JSON`)
  return body
}

/** Asks whether a proxy of this protocol is there. Rejects as `callProxy` does. */
export async function greetProxy(options: CallOptions): Promise<void> {
  const hello: Partial<Record<keyof Hello, unknown>> = await callProxy({ method: 'GET', path: paths.hello }, options)
  if (hello.service !== ('signalbox-cloud' satisfies Hello['service']))
    throw noProxy(options, 'another service answered')
  if (hello.protocol === PROTOCOL) return
  throw failed(options, `speaks another version of the protocol than ${PROTOCOL}: run the same release at both ends`)
}

/** Asks the proxy's `/v1/models` with a client key; resolves to the status, and whether it is a list of models. Rejects as `callProxy` does. */
export async function answerOfModels(key: string, options: CallOptions): Promise<{ status: number; isList: boolean }> {
  const headers = { authorization: `Bearer ${key}` }
  const { status, type, text } = await request({ method: 'GET', path: '/v1/models', headers }, options)
  const body = isJson(type) ? tryParseShallow(text) : undefined
  return { status, isList: isObject(body) && body.object === 'list' && Array.isArray(body.data) }
}

/** Was it refused by the proxy with one of these codes? */
export const isRefusal = (error: unknown, ...codes: readonly string[]): error is GatewayError =>
  isGatewayError(error, 'CLOUD_FAILED') && codes.some((code) => error.data.refusal === code)

/** An answer that means nothing in this protocol. */
export const invalidAnswer = (options: Pick<CallOptions, 'cloudUrl'>): GatewayError =>
  failed(options, 'sent an answer that is none of this protocol: run the same release at both ends')

interface WholeAnswer {
  status: number
  type: string
  text: string
}

/** The whole answer, whatever the HTTP client does with its signal. */
function request(call: ProxyCall, options: CallOptions): Promise<WholeAnswer> {
  const { signal, cloudUrl, fetch } = options
  const { method, path, body } = call
  const headers: Record<string, string> = { accept: 'application/json', ...call.headers }
  if (body !== undefined) headers['content-type'] = 'application/json'
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const url = cloudUrl + path
    const pending = startCall(fetch, body === undefined ? { url, method, headers } : { url, method, headers, body })
    const stop = () => {
      reject(signal.reason)
      pending.cancel(signal.reason)
    }
    signal.addEventListener('abort', stop, { once: true })
    readAnswer(pending, options)
      .catch((error: unknown) => {
        pending.cancel(error)
        throw isGatewayError(error) ? error : unreachable(options, error)
      })
      .finally(() => signal.removeEventListener('abort', stop))
      .then(resolve, reject)
  })
}

async function readAnswer(pending: PendingAnswer, options: CallOptions): Promise<WholeAnswer> {
  const answer = await pending.answer
  const bytes = await readAll(answer.body, MAX_MESSAGE_BYTES, () => noProxy(options, 'its answer has no end'))
  return { status: answer.status, type: answer.header('content-type') ?? '', text: decodeUtf8Lenient(bytes) }
}

const isJson = (type: string) => /^application\/json\b/i.test(type)

function refusal(options: CallOptions, status: number, { code, error }: JsonObject, secret = ''): GatewayError {
  if (typeof code !== 'string' || typeof error !== 'string') return noProxy(options, `it answered ${status}`)
  const why = secret === '' ? error : error.replaceAll(secret, '…')
  return gatewayError('CLOUD_FAILED', {
    message: `${subject(options)} refused: ${why.slice(0, 300).replace(/\p{Cc}/gu, ' ')}`,
    data: { refusal: code, status },
  })
}

const noProxy = (options: Pick<CallOptions, 'cloudUrl'>, why: string) =>
  gatewayError('CLOUD_FAILED', {
    message: `There is no Signalbox cloud proxy at ${options.cloudUrl}: ${why}. Set "cloudUrl" to the address of the proxy.`,
  })

const failed = (options: Pick<CallOptions, 'cloudUrl'>, what: string) =>
  gatewayError('CLOUD_FAILED', { message: `${subject(options)} ${what}.` })

const subject = ({ cloudUrl }: Pick<CallOptions, 'cloudUrl'>) => `The cloud proxy at ${cloudUrl}`

/** In words that hold nothing of the request: errors of HTTP clients may quote its headers. */
function unreachable(options: CallOptions, thrown: unknown): GatewayError {
  const cause = thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown
  const code =
    isObject(cause) && 'code' in cause && /^\w{1,50}$/.test(String(cause.code)) ? String(cause.code) : undefined
  return failed(
    options,
    `cannot be reached${code === undefined ? '' : ` (${code})`}. Check "cloudUrl", and whether the gateway gets there: DNS, proxy, firewall`,
  )
}
