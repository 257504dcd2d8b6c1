import { type ErrorCode, toGatewayError } from '../errors.ts'
import type { FailureClass, HealthLevel } from '../routing/failure-class.ts'

/** One attempt that brought no answer. */
export interface Failure {
  class: FailureClass
  /** Whom it speaks against, where that is another than with most of its class. */
  level?: HealthLevel
  /** The HTTP status of the failure; 502 or 504 where the provider gave none. */
  status: number
  /** The provider's own status, where the client must not read it as its own. */
  upstreamStatus?: number
  /** What the provider said, or what happened. Fit for the caller: it holds no secret. */
  message: string
  /** Are these the provider's own words? */
  isQuoted?: boolean
  retryAfterMs?: number | undefined
  /** In tokens: what a provider says that the request did not fit into. */
  window?: number | undefined
  /** The answer invites to ask the same target again. */
  isInviting?: boolean
  /** Of the network: `ECONNREFUSED`. */
  code?: unknown
  /** The provider's own JSON error, which the caller may have as it is. */
  body?: Uint8Array
  /** Of an error that was translated, in place of the provider's. */
  headers?: Record<string, string>
}

/** A failure out of what a call threw. */
export function failureOfError(thrown: unknown): Failure {
  const error = toGatewayError(thrown)
  if (error.code === 'INTERNAL') return { class: 'internal', status: 500, message: error.message }
  const failureClass = CLASSES[error.code] ?? 'network'
  const { code } = error.data
  const isOfAddress = failureClass === 'network' && typeof code === 'string' && !OF_ONE_CALL.test(code)
  return {
    class: failureClass,
    ...(isOfAddress && { level: 'connection' }),
    status: error.status,
    message: error.message,
    code,
  }
}

/** Somebody was there, and hung up; what has another code never came about: a name, a port, a certificate. */
const OF_ONE_CALL = /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|ConnectionClosed|HPE_)/

const CLASSES: Partial<Record<ErrorCode, FailureClass>> = {
  INVALID_REQUEST: 'client',
  UPSTREAM_TIMEOUT: 'timeout',
  UPSTREAM_INVALID: 'content',
  UPSTREAM_CREDENTIALS: 'credentials',
}

/** The connection's own credential is damaged, or sealed with another secret. */
export const unreadableCredential: Failure = {
  class: 'credentials',
  status: 500,
  message: 'The credential of the connection cannot be opened: give the connection its "apiKey" again.',
}

/** The provider answered, and what it sent is no answer. */
export const contentFailure = (message: string): Failure => ({ class: 'content', status: 502, message })
