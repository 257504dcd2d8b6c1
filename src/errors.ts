import { Boom, isBoom } from '@hapi/boom'

/** Every error of the gateway: its HTTP status, and the message used when no better one is given. */
const table = {
  INVALID_REQUEST: [400, 'The request is not valid.'],
  INVALID_JSON: [400, 'The request body is not valid JSON.'],
  CONTEXT_OVERFLOW: [400, 'The prompt is too long for the model.'],
  FORMAT_MISMATCH: [400, 'The target does not speak the format of this request.'],
  NAME_INVALID: [400, 'Name can only contain letters, numbers, -, _ and .'],
  NAME_TAKEN: [400, 'Combo name already exists'],
  BUDGET_EXCEEDED: [402, 'The budget for this request is used up.'],
  REQUEST_TOO_EXPENSIVE: [402, 'The request may cost more than is left of a budget.'],
  MANAGEMENT_CLOSED: [401, 'The management API is closed.'],
  MANAGEMENT_UNAUTHORIZED: [401, 'The management credential is missing or wrong.'],
  KEY_MISSING: [
    401,
    'This gateway needs an API key. Send it as "Authorization: Bearer <key>", "x-api-key: <key>" or "x-goog-api-key: <key>".',
  ],
  KEY_UNKNOWN: [
    401,
    'The API key is not known to this gateway. Check that it was copied whole and has not been deleted.',
  ],
  KEY_EXPIRED: [401, 'This API key has expired. Use another one, or ask the operator of this gateway to extend it.'],
  KEY_PAUSED: [403, 'This API key is paused. Resume it to use it again.'],
  MODEL_NOT_ALLOWED: [403, 'This API key may not use the model.'],
  FORBIDDEN: [403, 'The request is not allowed.'],
  NOT_FOUND: [404, 'Not found'],
  MODEL_NOT_FOUND: [404, 'The model does not exist.'],
  METHOD_NOT_ALLOWED: [405, 'The method is not allowed here.'],
  USAGE_NOT_KEPT: [409, 'This gateway keeps no usage.'],
  CLOUD_CONFLICT: [409, 'Cloud mode does not allow this now.'],
  REQUEST_TIMEOUT: [408, 'The request body did not arrive in time.'],
  PAYLOAD_TOO_LARGE: [413, 'The request body is too large.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The content type is not supported.'],
  WEBSOCKETS_NOT_SERVED: [426, 'WebSockets are not served here. Send the request over HTTP.'],
  RATE_LIMIT_EXCEEDED: [429, 'A limit on requests or tokens is used up.'],
  CLIENT_CLOSED_REQUEST: [499, 'The client closed the request.'],
  INTERNAL: [500, 'Internal server error'],
  BODY_ALREADY_READ: [500, 'The request body was read before it came to the gateway.'],
  RECORD_DAMAGED: [500, 'A record of the storage is damaged.'],
  STORAGE_FAILED: [500, 'The gateway cannot read its storage.'],
  SECRET_MISMATCH: [500, 'The secret does not open this store.'],
  UPSTREAM_FAILED: [502, 'The provider failed.'],
  UPSTREAM_CREDENTIALS: [502, 'The provider refused the credentials of the connection.'],
  UPSTREAM_INVALID: [502, 'The provider sent an answer that cannot be used.'],
  UPSTREAM_UNREACHABLE: [502, 'The provider cannot be reached.'],
  UPSTREAM_CUT: [502, 'The provider ended its answer too early.'],
  CLOUD_FAILED: [502, 'The cloud proxy failed.'],
  STORAGE_UNAVAILABLE: [503, 'The gateway cannot reach its storage.'],
  DRAINING: [503, 'All connections for this model are draining.'],
  TOO_BUSY: [503, 'The gateway already has the most requests under way that it allows. Try again in a moment.'],
  CLOSED: [503, 'The gateway is shutting down.'],
  UPSTREAM_TIMEOUT: [504, 'The provider did not answer in time.'],
  CLOUD_TIMEOUT: [504, 'The cloud proxy did not answer in time.'],
} as const satisfies Record<string, readonly [status: number, text: string]>

/** The codes of the gateway's errors, for programs; messages are for people and may change. */
export type ErrorCode = keyof typeof table

/** An error of the gateway; check with `isGatewayError`. The class behind it is an implementation detail. */
export interface GatewayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  /** Facts for the operator (`onError`), such as the provider; never a secret, a header or a body. */
  readonly data: Readonly<Record<string, unknown>>
  /** Headers of the error's HTTP response, such as `allow` or `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
}

/** The details of one error, beyond its code. */
export interface ErrorDetails {
  /** The message for the caller; default: the code's. */
  message?: string
  /** Default: the code's. */
  status?: number
  cause?: unknown
  data?: Record<string, unknown>
  headers?: Record<string, string>
}

/** Makes an error to throw: `throw gatewayError('UPSTREAM_TIMEOUT', { cause, data: { provider } })`. */
export function gatewayError(code: ErrorCode, details: ErrorDetails = {}): GatewayError {
  const [statusCode, text] = table[code]
  const boom = new Boom(details.message ?? text, { statusCode: details.status ?? statusCode, data: details.data ?? {} })
  if (details.cause !== undefined) boom.cause = details.cause
  return Object.assign(boom, {
    code,
    status: boom.output.statusCode,
    headers: details.headers ?? {},
  }) as Boom & GatewayError // Boom types `data` as nullable; it is set above
}

/** Is this an error of the gateway, and, if `code` is given, one with that code? */
export function isGatewayError(error: unknown, code?: ErrorCode): error is GatewayError {
  return isBoom(error) && 'code' in error && (code === undefined || error.code === code)
}

/** Converts any thrown value to a gateway error: a value that is none becomes an `INTERNAL` with the original as its cause. */
export function toGatewayError(error: unknown): GatewayError {
  return isGatewayError(error) ? error : gatewayError('INTERNAL', { cause: error })
}
