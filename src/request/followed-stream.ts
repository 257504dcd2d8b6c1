import { isGatewayError, toGatewayError } from '../errors.ts'
import type { ByteStream } from '../lib/exchange.ts'
import type { RequestEnding, RequestLog } from './request-log.ts'

/** A stream that a step created or changed. The request ends when the stream ends or fails, or when the client disconnects. */
export class FollowedStream implements ByteStream {
  readonly #stream: ByteStream
  readonly #log: RequestLog
  readonly #status: number
  #hasEnded = false

  constructor(stream: ByteStream, log: RequestLog, status: number) {
    this.#stream = stream
    this.#log = log
    this.#status = status
    log.client.scope.add((reason) => this.#stop(reason))
  }

  async next(): Promise<Uint8Array | undefined> {
    try {
      const chunk = await this.#log.client.scope.race(this.#stream.next())
      if (chunk === undefined) this.#end(this.#log.createEnding(this.#status))
      return chunk
    } catch (error) {
      if (!this.#hasEnded) this.#fail(error)
      throw error
    }
  }

  cancel(reason?: unknown): void {
    this.#stream.cancel(reason)
    this.#end({ status: 499, sentStatus: this.#status, end: 'aborted' })
  }

  #fail(error: unknown): void {
    this.#stream.cancel(error)
    if (!isGatewayError(error)) this.#log.reportError(error)
    const { code, status, message } = toGatewayError(error)
    this.#end({ status, sentStatus: this.#status, end: 'cut', error: code, reason: message })
  }

  #end(ending: RequestEnding): void {
    this.#hasEnded = true
    this.#log.reportEnd(this, ending.end === 'complete' ? (this.#log.brokenStream ?? ending) : ending)
  }

  /** Ends the stream, because the client has stopped waiting or the request is over. */
  #stop(reason: unknown): void {
    if (this.#hasEnded) return
    if (isGatewayError(reason, 'CLIENT_CLOSED_REQUEST')) this.cancel(reason)
    else if (reason !== undefined) this.#fail(reason)
    else this.#stream.cancel()
  }
}
