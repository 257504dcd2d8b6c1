/** The codes of errors that the client itself reports. An error that the gateway reports has none. */
export type ClientErrorCode =
  /** The argument cannot be part of an address; nothing was sent. `status` is 400. */
  | 'INVALID_ARGUMENT'
  /** There was no connection, or it ended before the whole response had arrived. `status` is 0. */
  | 'UNREACHABLE'
  /** The whole response did not arrive in time. `status` is 408. The gateway may have carried the operation out all the same. */
  | 'TIMEOUT'
  /** The response was a redirect, which is not followed, since the token would be sent along. `status` is that of the response; 0 in a page. */
  | 'REDIRECTED'
  /** The response does not come from a gateway, such as the HTML page of a proxy. `status` is that of the response, which may be 200. */
  | 'UNEXPECTED_ANSWER'

interface ClientErrorFacts {
  code?: ClientErrorCode
  current?: object | undefined
  cause?: unknown
}

/** The error that every operation of a client rejects with. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  /** The status of the response; without a response the one that belongs to `code`. */
  readonly status: number
  /** Absent when the gateway has refused the request or failed: `message` is then the gateway's. */
  declare readonly code?: ClientErrorCode
  /** The record as it is now, where a change with `ifMatch` was refused with 409; absent when the record was removed. */
  declare readonly current?: object

  constructor(status: number, message: string, { code, current, cause }: ClientErrorFacts = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    if (code !== undefined) this.code = code
    if (current !== undefined) this.current = current
  }
}
