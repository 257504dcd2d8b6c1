export type ErrorKind =
  | 'bad-request'
  | 'authentication'
  | 'billing' // no credit is left, so retrying doesn't help
  | 'permission'
  | 'not-found'
  | 'timeout'
  | 'conflict'
  | 'too-large'
  | 'context-overflow'
  | 'unprocessable'
  | 'rate-limit'
  | 'cancelled'
  | 'server'
  | 'overloaded'

export interface CanonicalError {
  kind: ErrorKind
  /** The HTTP status, or its equivalent. A format may use a different status for this kind. */
  status: number
  message: string
  /** The provider's or the gateway's code. */
  code?: string
  /** The request field that caused the error, as the client spells it. */
  param?: string
  retryAfterMs?: number
  /** The original error in the stream, used for target health. Never sent to clients, because it may quote a credential. */
  source?: EmbeddedError
}

/** An error in a response with status 200. */
export interface EmbeddedError {
  message: string
  /** The equivalent HTTP status. */
  status: number
  /** The provider's error, unchanged. */
  error?: unknown
  /** Set if the error gives no reason. The next event of the stream may contain one. */
  isVague?: true
  /** Set if the error hasn't been parsed yet, so `message` and `status` are placeholders. See `loadErrorReaders`. */
  isUnparsed?: true
  /** Set if only the content of this response is unusable. The provider's health isn't affected. */
  class?: 'content'
}

/** The code for a response that is invalid because of the model. It doesn't count against the provider. */
export const MALFORMED_CALL = 'MALFORMED_FUNCTION_CALL'

/**
 * Returns the status for the client. `defaultStatus` is the format's status for the kind. A more specific status of the same class is kept: a 502 is
 * a server error like a 500. A provider failure with another status, such as 424, becomes a 502.
 */
export function getClientStatus({ kind, status }: CanonicalError, defaultStatus: number): number {
  if (kind === 'server' && PROVIDER_FAILURES.has(status)) return BAD_GATEWAY
  return (kind === 'server' && status >= 500) || (kind === 'timeout' && status === 408) ? status : defaultStatus
}

const PROVIDER_FAILURES: ReadonlySet<number> = new Set([424, 425, 498])
const BAD_GATEWAY = 502
