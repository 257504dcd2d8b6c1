/** What went wrong when the gateway itself has not said it. */
export type ClientErrorCode =
  /** The argument cannot stand in an address; nothing was sent. `status` is 400. */
  | 'INVALID_ARGUMENT'
  /** No connection, or one that ended before the whole answer had come. `status` is 0. */
  | 'UNREACHABLE'
  /** No whole answer in time. `status` is 408. The gateway may have carried the operation out all the same. */
  | 'TIMEOUT'
  /** The answer was a redirect, which is not followed: the token would go along. `status` is that of the answer, in a page 0. */
  | 'REDIRECTED'
  /** The answer was not made by a gateway, such as the HTML page of a proxy. `status` is that of the answer, which may be 200. */
  | 'UNEXPECTED_ANSWER'

/** The error that every operation of a client rejects with. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  /** The status of the answer; without an answer the one that `code` names. */
  readonly status: number
  /** Absent when the gateway has refused or failed: `message` is then its own. */
  declare readonly code?: ClientErrorCode

  constructor(status: number, message: string, { code, cause }: { code?: ClientErrorCode; cause?: unknown } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    if (code !== undefined) this.code = code
  }
}
