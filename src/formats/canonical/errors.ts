/** What went wrong, in no format's words. */
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

/** An error in no format: every format reads its own into one, and writes its own out of it. */
export interface CanonicalError {
  kind: ErrorKind
  /** The HTTP status that it came with or stands for. Writers may have another one for its kind. */
  status: number
  message: string
  /** The provider's or the gateway's finer code. */
  code?: string
  /** The field of the request that is at fault, as the client calls it. */
  param?: string
  retryAfterMs?: number
}

/** The code of an answer that the model itself has broken, which says nothing against who sent it. */
export const MALFORMED_CALL = 'MALFORMED_FUNCTION_CALL'

/**
 * The status to answer with, where `usual` is that of a format for the kind. A finer one of the same class stays: a 502 is a server error
 * as a 500 is.
 */
export function statusOf({ kind, status }: CanonicalError, usual: number): number {
  return (kind === 'server' && status >= 500) || (kind === 'timeout' && status === 408) ? status : usual
}

/** The kind that a status stands for when nothing finer is known. */
export function kindOfStatus(status: number): ErrorKind {
  return kinds[status] ?? (status >= 500 ? 'server' : 'bad-request')
}

const kinds: Readonly<Record<number, ErrorKind>> = {
  401: 'authentication',
  402: 'billing',
  403: 'permission',
  404: 'not-found',
  408: 'timeout',
  409: 'conflict',
  413: 'too-large',
  422: 'unprocessable',
  429: 'rate-limit',
  499: 'cancelled',
  503: 'overloaded',
  504: 'timeout',
  529: 'overloaded',
}
