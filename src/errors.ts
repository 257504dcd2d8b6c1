import { Boom, isBoom } from '@hapi/boom'

/** All gateway errors, each with its HTTP status and default message. Errors without a default message get one where they are thrown. */
const table = {
  INVALID_REQUEST: [400, 'The request is invalid.'],
  INVALID_JSON: [400],
  CONTEXT_OVERFLOW: [400],
  FORMAT_MISMATCH: [400],
  CONTENT_REFUSED: [400],
  NAME_INVALID: [400, 'Name can only contain letters, numbers, -, _ and .'],
  NAME_TAKEN: [400, 'Combo name already exists'],
  IDENTITY_CONFLICT: [400, 'The request names several accounts. Send only one API key or token.'],
  BUDGET_EXCEEDED: [402],
  REQUEST_TOO_EXPENSIVE: [402],
  MANAGEMENT_CLOSED: [401],
  MANAGEMENT_UNAUTHORIZED: [401],
  KEY_MISSING: [
    401,
    'This gateway requires an API key. Send it as "Authorization: Bearer <key>", "x-api-key: <key>", or "x-goog-api-key: <key>".',
  ],
  KEY_UNKNOWN: [
    401,
    'This gateway does not recognize the API key. Check that you copied all of it. If you did, ask the operator of this gateway whether it was deleted.',
  ],
  IDENTITY_REQUIRED: [401],
  KEY_EXPIRED: [
    401,
    'This API key has expired. Use another key, or ask the operator of this gateway to extend this one.',
  ],
  KEY_PAUSED: [403, 'This API key is paused. Ask the operator of this gateway to resume it.'],
  TOKEN_INVALID: [401],
  TOKEN_EXPIRED: [401],
  TOKEN_REVOKED: [401],
  TOKEN_NOT_ALLOWED: [403],
  MODEL_NOT_ALLOWED: [403],
  ACCOUNT_PAUSED: [403, 'This account is paused. Ask the operator of this gateway to resume it.'],
  ACCOUNT_NOT_ALLOWED: [403, 'This request names another account. Only an API key with "actsFor" can do that.'],
  NO_COMPLIANT_TARGET: [403],
  CROSS_SITE: [403],
  FORBIDDEN: [403, 'This request is not allowed.'],
  NOT_FOUND: [404, 'Not found'],
  MODEL_NOT_FOUND: [404],
  METHOD_NOT_ALLOWED: [405],
  USAGE_NOT_KEPT: [409, 'This gateway does not record usage.'],
  DEFINED_IN_CODE: [409, "This is defined in code and cannot be changed here. Change the gateway's options instead."],
  CLOUD_CONFLICT: [409],
  REQUEST_TIMEOUT: [408],
  PAYLOAD_TOO_LARGE: [413],
  UNSUPPORTED_MEDIA_TYPE: [415],
  WEBSOCKETS_NOT_SERVED: [426],
  RATE_LIMIT_EXCEEDED: [429],
  CLIENT_CLOSED_REQUEST: [499, 'The client closed the request.'],
  INTERNAL: [500, 'Internal server error'],
  IDENTITY_INVALID: [500, 'Internal server error'],
  BODY_ALREADY_READ: [500, 'The request body was read before it reached the gateway.'],
  RECORD_DAMAGED: [500, 'A stored record is damaged.'],
  STORAGE_FAILED: [500, 'The gateway cannot read its storage.'],
  CALLER_UNUSABLE: [
    500,
    'The stored record of this API key, its group, or its account cannot be used. Ask the operator of this gateway to check it.',
  ],
  SECRET_MISMATCH: [500, 'The secret does not match this storage.'],
  UPSTREAM_FAILED: [502],
  UPSTREAM_CREDENTIALS: [502],
  UPSTREAM_INVALID: [502, 'The provider returned an invalid response.'],
  UPSTREAM_UNREACHABLE: [502, 'The provider is unreachable.'],
  UPSTREAM_CUT: [502, 'The provider closed the response early.'],
  CLOUD_FAILED: [502],
  STORAGE_UNAVAILABLE: [503, 'The gateway could not reach its storage. Retry in a moment.'],
  IDENTITY_UNAVAILABLE: [503],
  ROUTE_FAILED: [503],
  GUARD_UNAVAILABLE: [503],
  TOO_MANY_NEW_ACCOUNTS: [503],
  DRAINING: [503],
  TOO_BUSY: [503, 'Too many concurrent requests. Retry in a moment.'],
  CLOSED: [503, 'The gateway is shutting down.'],
  UPSTREAM_TIMEOUT: [504, 'The provider did not respond in time.'],
  CLOUD_TIMEOUT: [504],
} as const satisfies Record<string, readonly [status: number, text?: string]>

/** The codes of gateway errors. Check these instead of messages, which may change. */
export type ErrorCode = keyof typeof table

/** A gateway error; check with `isGatewayError`. The class behind it is an implementation detail. */
export interface GatewayError extends Error {
  readonly code: ErrorCode
  readonly status: number
  /** Details for the operator (`onError`), such as the provider; never a secret, a header, or a body. */
  readonly data: Readonly<Record<string, unknown>>
  /** Headers of the error's HTTP response, such as `allow` or `retry-after`. */
  readonly headers: Readonly<Record<string, string>>
}

/** Details of an error, beyond its code. */
export interface ErrorDetails {
  /** The message for the caller. Default: the code's message. */
  message?: string
  /** Default: the code's status. */
  status?: number
  cause?: unknown
  data?: Record<string, unknown>
  headers?: Record<string, string>
}

/** Creates an error to throw: `throw gatewayError('UPSTREAM_TIMEOUT', { cause, data: { provider } })`. */
export function gatewayError(code: ErrorCode, details: ErrorDetails = {}): GatewayError {
  const [statusCode, text = code]: readonly [number, string?] = table[code]
  const message = redactClientKeys(details.message ?? text) // the message may quote client input
  const boom = new Boom(message, { statusCode: details.status ?? statusCode, data: details.data ?? {} })
  if (details.cause !== undefined) boom.cause = details.cause
  return Object.assign(boom, {
    code,
    status: boom.output.statusCode,
    headers: details.headers ?? {},
  }) as Boom & GatewayError // Boom types `data` as nullable, but it is set above
}

/**
 * Replaces this gateway's keys and tokens with `[credential]`, even if they are repeatedly percent-encoded. Clients may paste them into any field.
 */
export const redactClientKeys = (text: string): string =>
  text.replace(/[\w%.-]{20,}/g, (word) => {
    let decoded = word
    for (let times = 0; times < 9; times++) {
      const masked = decoded.replace(OWN_KEY, '[credential]')
      if (masked !== decoded) return masked
      if (!decoded.includes('%')) break
      decoded = decoded.replace(/%([\da-f]{2})/gi, (_, byte: string) => String.fromCharCode(Number.parseInt(byte, 16)))
    }
    return word
  })

/** Returns whether the text contains a string that looks like one of this gateway's keys. */
export const containsClientKey = (text: string): boolean => redactClientKeys(text) !== text

/** Also matches admin tokens, keys you chose yourself, and truncated keys and tokens. */
const OWN_KEY = /sbx_[\w-]{20,}|sbt_[\w-]{20,}(?:\.[\w-]+)*/g

/** Returns whether the value is a gateway error and, if `code` is given, whether it has that code. */
export function isGatewayError(error: unknown, code?: ErrorCode): error is GatewayError {
  return isBoom(error) && 'code' in error && (code === undefined || error.code === code)
}

/** Converts any thrown value to a gateway error; other values become an `INTERNAL` error with the original as its cause. */
export function toGatewayError(error: unknown): GatewayError {
  return isGatewayError(error) ? error : gatewayError('INTERNAL', { cause: error })
}
