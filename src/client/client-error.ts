/** The codes of errors that the client itself creates. Errors from the gateway have no code. */
export type ClientErrorCode =
  /** An argument can't be encoded in a URL; nothing was sent. `status` is 400. */
  | 'INVALID_ARGUMENT'
  /** The connection failed, or it closed before the complete response arrived. `status` is 0. */
  | 'UNREACHABLE'
  /** The complete response didn't arrive in time. `status` is 408. The gateway may have run the operation anyway. */
  | 'TIMEOUT'
  /**
   * The response was a redirect, which isn't followed because that would send the token to another URL. `status` is the response's, or 0 in a
   * browser.
   */
  | 'REDIRECTED'
  /** The response isn't from a gateway, such as the HTML page of a proxy. `status` is the response's, which can be 200. */
  | 'UNEXPECTED_ANSWER'

interface ClientErrorOptions {
  code?: ClientErrorCode
  current?: object | undefined
  cause?: unknown
}

/** The error that all of a client's operations reject with. */
export class ClientError extends Error {
  override readonly name = 'ClientError'
  /** The response's status; if there was no response, the status listed with `code`. */
  readonly status: number
  /** Absent if the gateway rejected the request or failed; `message` then comes from the gateway. */
  declare readonly code?: ClientErrorCode
  /** The current record, if a change with `ifMatch` failed with a 409. Absent if the record was deleted. */
  declare readonly current?: object

  constructor(status: number, message: string, { code, current, cause }: ClientErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.status = status
    if (code !== undefined) this.code = code
    if (current !== undefined) this.current = current
  }
}
