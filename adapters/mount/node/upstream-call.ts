import type { Dispatcher } from 'undici'
import type { ByteStream, PendingResponse, UpstreamResponse } from '../../../src/index.ts'
import { ChunkQueue, type ChunkSource } from './chunk-queue.ts'
import type { PooledConnection } from './connection-pool.ts'
import { decodeBody } from './decode.ts'

/** Headers from undici, with lowercase names. */
type RawHeaders = Record<string, string | string[] | undefined>

/** Headers about the bytes on the wire, which are wrong for a decompressed body. */
const WIRE_ONLY_HEADERS = new Set(['content-encoding', 'content-length', 'transfer-encoding'])

/** A response with undici's headers. `isDecoded` hides the compressed body's headers. */
class NodeResponse implements UpstreamResponse {
  readonly status: number
  readonly body: ByteStream
  readonly #raw: RawHeaders
  readonly #isDecoded: boolean

  constructor(status: number, raw: RawHeaders, body: ByteStream, isDecoded: boolean) {
    this.status = status
    this.body = body
    this.#raw = raw
    this.#isDecoded = isDecoded
  }

  header(name: string): string | undefined {
    const value: unknown = this.#isHidden(name) ? undefined : this.#raw[name] // a name such as `constructor` would find a prototype property
    if (typeof value === 'string') return value
    return Array.isArray(value) ? value.join(', ') : undefined
  }

  headers(): Iterable<[string, string]> {
    const pairs: [string, string][] = []
    for (const name in this.#raw) {
      const value = this.#raw[name]
      if (value === undefined || this.#isHidden(name)) continue
      if (typeof value === 'string') pairs.push([name, value])
      else for (const item of value) pairs.push([name, item])
    }
    return pairs
  }

  #isHidden(name: string): boolean {
    return this.#isDecoded && WIRE_ONLY_HEADERS.has(name)
  }
}

const ignore = () => {}

type Controller = Dispatcher.DispatchController

/**
 * A call in flight: undici's handler on one side, the pending response and its body on the other. It is a class because one is created per call,
 * and undici calls it for each chunk.
 */
export class InFlightCall implements Dispatcher.DispatchHandler, PendingResponse, ChunkSource {
  readonly response: Promise<UpstreamResponse>
  readonly #connection: PooledConnection | undefined
  readonly #body = new ChunkQueue(this)
  #resolve: (response: UpstreamResponse) => void = ignore
  #reject: (error: Error) => void = ignore
  #controller: Controller | undefined
  #error: Error | undefined
  hasEnded = false

  /** Without a connection, the call uses your dispatcher, and undici paces its body. */
  constructor(connection?: PooledConnection) {
    this.#connection = connection
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.response.catch(ignore) // after a cancellation, the caller may not handle the rejection
  }

  static failed(error: Error): InFlightCall {
    const call = new InFlightCall()
    call.cancel(error)
    return call
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#error) controller.abort(this.#error)
  }

  onResponseStart(_: Controller, status: number, headers: RawHeaders): void {
    if (status < 200) return // informational, such as 103
    try {
      const decoded = decodeBody(this.#body, headers['content-encoding'])
      this.#resolve(new NodeResponse(status, headers, decoded ?? this.#body, decoded !== undefined))
    } catch (error) {
      this.cancel(error)
    }
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.#body.push(chunk)
  }

  onResponseEnd(): void {
    if (this.hasEnded) return
    const broken = this.#connection?.failure
    if (broken) {
      this.onResponseError(this.#controller, broken)
      return
    }
    this.hasEnded = true
    this.#connection?.free()
    this.#body.end()
  }

  onResponseError(_: Controller | undefined, error: Error): void {
    this.#fail(error)
  }

  cancel(reason?: unknown): void {
    if (this.hasEnded) return // most translated streams are canceled after their end, and creating an error with its stack trace is slow
    this.#fail(reason instanceof Error ? reason : new DOMException('The call was cancelled.', 'AbortError'))
  }

  pause(): void {
    if (this.#connection) this.#connection.pause()
    else this.#controller?.pause()
  }

  resume(): void {
    if (this.#connection) this.#connection.resume()
    else this.#controller?.resume()
  }

  #fail(error: Error): void {
    if (this.hasEnded) return
    this.hasEnded = true
    this.#error = error
    this.#reject(error)
    this.#body.end(error)
    this.#controller?.abort(error) // has no effect on a call that undici has ended itself
    this.#connection?.drop()
  }
}
