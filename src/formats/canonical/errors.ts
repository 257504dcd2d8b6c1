/** The kinds of errors in the canonical form. */
export type ErrorKind =
  | 'bad-request'
  | 'authentication'
  | 'billing' // no money left: trying again does not help
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

/** An error in the canonical form. */
export interface CanonicalError {
  kind: ErrorKind
  /** The HTTP status of the error, or the one that it stands for. Writers may use another status for its kind. */
  status: number
  message: string
  /** The code of the provider or the gateway. */
  code?: string
  /** The field of the request that is at fault, as the client calls it. */
  param?: string
  retryAfterMs?: number
  /** The error of a stream from which it was read, for the health of its target. Never sent to clients, since it may quote a credential. */
  source?: EmbeddedError
}

/** An error that a provider reports in an answer of status 200. */
export interface EmbeddedError {
  message: string
  /** The HTTP status that the error stands for. */
  status: number
  /** The provider's error, unchanged. */
  error?: unknown
  /** Set when the content of this one answer is unusable; the health of the provider is not affected. */
  class?: 'content'
}

/** The code of an answer that is invalid by the model's fault, which does not count against the provider. */
export const MALFORMED_CALL = 'MALFORMED_FUNCTION_CALL'

/**
 * The status for the client. `usual`: the format's for the kind; a more specific one of the same class is kept, as a 502 is a server error
 * like a 500.
 */
export function statusOf({ kind, status }: CanonicalError, usual: number): number {
  return (kind === 'server' && status >= 500) || (kind === 'timeout' && status === 408) ? status : usual
}
