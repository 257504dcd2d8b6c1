import { type GatewayError, gatewayError } from '../../errors.ts'
import { type CancelDeadline, startDeadline } from '../../lib/deadline.ts'
import type { ByteStream, PendingResponse, UpstreamCall, UpstreamFetch, UpstreamResponse } from '../../lib/exchange.ts'
import { startCall } from '../../lib/fetch-call.ts'
import { once } from '../../lib/promises.ts'
import type { Clock } from '../../types.ts'

/** A call's time limits, in ms. */
export interface TimeLimits {
  /** Maximum time from the start of the call to the response headers. */
  headersTimeoutMs: number
  /** Maximum time between two chunks of the body. */
  idleTimeoutMs: number
  /** Maximum time from the start of the call to the end of the body. A stream has no such limit after its first content. */
  totalTimeoutMs: number
}

/** Call options. */
export interface ProviderCallOptions {
  clock: Clock
  limits: TimeLimits
  /** Whether a stream was requested. It must begin within `headersTimeoutMs`, which replaces `totalTimeoutMs` until `setTotalTimeout`. */
  isStreaming?: boolean
}

/**
 * One call to a provider, made by `open`. It is also the response's body. Every wait ends immediately with the headers or a chunk, a timeout
 * (`UPSTREAM_TIMEOUT`), `cancel`, or a network failure (`UPSTREAM_UNREACHABLE` before the headers, `UPSTREAM_CUT` in the body), even if the HTTP
 * client ignores its signal.
 */
export class ProviderCall implements ByteStream {
  readonly #clock: Clock
  readonly #limits: TimeLimits
  readonly #startedAt: number
  #pendingResponse: PendingResponse | undefined = undefined // set once the call is open
  readonly #onDeadline = () => this.#checkTime()
  #totalTimeoutMs: number
  #isOpening: boolean
  #body: ByteStream | undefined = undefined // set once the headers have arrived
  #waitingSince: number | undefined = undefined
  #rejectWait: ((reason: unknown) => void) | undefined = undefined
  #stopReason: { reason: unknown } | undefined = undefined
  #cancelDeadline: CancelDeadline = () => {}

  constructor({ clock, limits, isStreaming = false }: ProviderCallOptions) {
    this.#clock = clock
    this.#limits = limits
    this.#totalTimeoutMs = isStreaming ? limits.headersTimeoutMs : limits.totalTimeoutMs
    this.#isOpening = isStreaming
    this.#startedAt = clock.now()
  }

  /** Makes the call, once, without keeping a reference to it, because its body may be large. Resolves when the response headers have arrived. */
  open(call: UpstreamCall, fetch: UpstreamFetch): Promise<UpstreamResponse> {
    const { headersTimeoutMs, idleTimeoutMs } = this.#limits
    const pendingResponse = startCall(fetch, call)
    this.#pendingResponse = pendingResponse
    // Never later than the idle timeout, so no deadline has to be set when the headers arrive.
    const firstDeadlineMs = Math.min(headersTimeoutMs, idleTimeoutMs, this.#totalTimeoutMs)
    this.#cancelDeadline = startDeadline(this.#clock, firstDeadlineMs, this.#onDeadline)
    return this.#wait(pendingResponse.response, (response) => {
      this.#body = response.body
      return new ResponseWithBody(response, this)
    })
  }

  next(): Promise<Uint8Array | undefined> {
    if (!this.#body) return NO_CHUNK
    this.#waitingSince = this.#clock.now()
    return this.#wait(this.#body.next(), (chunk) => {
      if (!chunk) this.#cancelDeadline() // the body is complete
      return chunk
    })
  }

  whole(): Promise<Uint8Array> | undefined {
    this.#waitingSince = this.#clock.now()
    const bodyPromise = this.#body?.whole?.()
    return (
      bodyPromise &&
      this.#wait(bodyPromise, (bytes) => {
        this.#cancelDeadline()
        return bytes
      })
    )
  }

  cancel(reason?: unknown): void {
    if (this.#stopReason) return
    this.#stopReason = { reason }
    this.#cancelDeadline()
    this.#rejectWait?.(reason)
    this.#pendingResponse?.cancel(reason)
  }

  /** Replaces the total timeout after the headers have arrived: the stream has begun, or the response isn't a stream. */
  setTotalTimeout(timeoutMs: number): void {
    const isSooner = timeoutMs < this.#totalTimeoutMs
    this.#totalTimeoutMs = timeoutMs
    this.#isOpening = false
    if (isSooner && !this.#stopReason) this.#checkTime() // a later end is noticed at the next deadline
  }

  /** Limits the remaining time for the body. */
  limitRemaining(timeoutMs: number): void {
    this.#totalTimeoutMs = Math.min(this.#totalTimeoutMs, this.#clock.now() - this.#startedAt + timeoutMs)
    if (!this.#stopReason) this.#checkTime()
  }

  /** Resolves to the return value of `onResult`. Rejects immediately if the call is canceled. Only one wait at a time. */
  #wait<T, R>(work: Promise<T>, onResult: (result: T) => R): Promise<R> {
    return new Promise((resolve, reject) => {
      if (this.#stopReason) reject(this.#stopReason.reason)
      this.#rejectWait = reject
      work.then(
        (result) => {
          if (this.#rejectWait === reject) this.#rejectWait = undefined // otherwise, the promise would keep the result in memory
          this.#waitingSince = undefined
          resolve(onResult(result))
        },
        (error) => {
          this.#cancelDeadline()
          if (this.#stopReason) reject(this.#stopReason.reason)
          else loadCallErrors().then(({ toCallError }) => reject(toCallError(error, this.#body !== undefined)), reject)
        },
      )
    })
  }

  /**
   * Cancels the call if a timeout has passed. Otherwise, sets the next deadline. Silence only counts while a chunk is awaited: if a slow client takes
   * time to read, that isn't the provider's fault.
   */
  #checkTime(): void {
    const { idleTimeoutMs, headersTimeoutMs } = this.#limits
    const now = this.#clock.now()
    const endsAt = this.#startedAt + this.#totalTimeoutMs
    const deadline = this.#body ? (this.#waitingSince ?? now) + idleTimeoutMs : this.#startedAt + headersTimeoutMs
    const remainingMs = deadline - now
    this.#cancelDeadline()
    if (now >= endsAt) this.cancel(this.#createTotalTimeoutError())
    else if (remainingMs > 0)
      this.#cancelDeadline = startDeadline(
        this.#clock,
        Math.min(remainingMs, idleTimeoutMs, endsAt - now),
        this.#onDeadline,
      )
    else if (this.#body) this.cancel(createTimeoutError(`sent nothing for ${idleTimeoutMs / 1000} s`))
    else this.cancel(createTimeoutError(`did not respond within ${headersTimeoutMs / 1000} s`))
  }

  #createTotalTimeoutError(): GatewayError {
    const problem = this.#isOpening ? 'did not respond' : 'did not finish its response'
    return createTimeoutError(`${problem} within ${this.#totalTimeoutMs / 1000} s`)
  }
}

const NO_CHUNK = Promise.resolve(undefined)

/** Lazy-loads the code for errors in calls that fail on their own. */
const loadCallErrors = once(() => import('./call-errors.ts'))

const createTimeoutError = (problem: string) =>
  gatewayError('UPSTREAM_TIMEOUT', { message: `The provider ${problem}.` })

/** A response with a different body. */
export class ResponseWithBody implements UpstreamResponse {
  readonly status: number
  readonly body: ByteStream
  readonly #response: UpstreamResponse

  constructor(response: UpstreamResponse, body: ByteStream) {
    this.status = response.status
    this.body = body
    this.#response = response
  }

  header(name: string): string | undefined {
    return this.#response.header(name)
  }

  headers(): Iterable<[string, string]> {
    return this.#response.headers()
  }
}
