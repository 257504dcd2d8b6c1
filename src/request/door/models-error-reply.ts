import { type ErrorCode, type GatewayError, gatewayError, toGatewayError } from '../../errors.ts'
import type { Exchange, Reply } from '../../lib/exchange.ts'
import { endpoints } from '../../protocols/kinds/kinds.ts'
import { getCallerFormat, isModelList } from './caller-format.ts'
import { createJsonReply } from './reply.ts'

/**
 * Creates the reply to an error under `/v1`, in the caller's format. A header keeps SDKs from retrying 408, 409, 429, and 5xx on their own. The
 * header is omitted if a retry may succeed, here or on another instance: if the gateway shuts down, has too many requests or new accounts, can't
 * identify the caller, or enforces a limit.
 */
export async function createModelsErrorReply(
  cause: unknown,
  request: { path: string; exchange: Exchange },
  onError: (error: unknown) => void,
): Promise<Reply> {
  const { path, exchange } = request
  const error = toGatewayError(cause)
  const { status, code, message, data } = toClientError(error, onError)
  const param = typeof data.param === 'string' ? data.param : undefined
  const errors = await getCallerFormat(path, exchange).loadErrors()
  const endpointHeaders = endpoints.find((endpoint) => endpoint.path === path)?.headers
  const model = endpointHeaders && exchange.header(endpointHeaders.model)
  const corsHeaders = isModelList(path) ? { 'access-control-allow-origin': '*' } : {}
  const retryAfterSeconds = error.headers['retry-after']
  return createJsonReply(status, errors.createBody({ status, code, message, param, model, retryAfterSeconds }), {
    ...corsHeaders,
    ...(!RETRYABLE_CODES.has(code) && NO_RETRY_HEADERS),
    ...error.headers,
  })
}

const RETRYABLE_CODES: ReadonlySet<ErrorCode> = new Set([
  'CLOSED',
  'IDENTITY_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'ROUTE_FAILED',
  'TOO_BUSY',
  'TOO_MANY_NEW_ACCOUNTS',
])

/** Keeps SDKs from retrying. */
const NO_RETRY_HEADERS = { 'x-should-retry': 'false' }

/**
 * Returns the error for the client. Passes an internal error to `onError`, and replaces it with "Internal server error"; a provider's 500 is
 * forwarded. Errors whose messages help both the operator and the client go to both: `BODY_ALREADY_READ`, which explains how to mount the gateway, an
 * unreachable storage, and a failed `identify`.
 */
function toClientError(error: GatewayError, onError: (error: unknown) => void): GatewayError {
  const hidesMessage = error.status === 500 && error.code !== 'BODY_ALREADY_READ'
  const clientError = hidesMessage ? gatewayError(error.code) : error
  if (error.code === 'STORAGE_UNAVAILABLE' || error.code === 'IDENTITY_UNAVAILABLE') onError(error)
  if (clientError.status !== 500) return error
  onError(error.code === 'INTERNAL' && error.cause !== undefined ? error.cause : error)
  return clientError
}
