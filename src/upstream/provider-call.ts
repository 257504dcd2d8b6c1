import { type GatewayError, gatewayError } from '../errors.ts'
import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { ByteStream, PendingAnswer, UpstreamAnswer, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import { startCall } from '../lib/fetch-call.ts'
import { isObject } from '../lib/json.ts'
import type { Clock } from '../types.ts'

/** How long a call may take, in ms. */
export interface TimeLimits {
  /** From the start of the call to the headers of the answer. */
  headersTimeoutMs: number
  /** Between two chunks of the body. */
  silenceTimeoutMs: number
  /** From the start of the call to the end of the body; a stream has no such limit after its first content. */
  totalTimeoutMs: number
}

/** The time-outs of a call. */
export interface ProviderCallOptions {
  clock: Clock
  limits: TimeLimits
  /** Is a stream asked for? It has `headersTimeoutMs` for its beginning, in place of `totalTimeoutMs`, until `setTotalTimeout`. */
  stream?: boolean
}

/**
 * One call to a provider, which `open` makes, and which is also the body of its answer. Every wait ends at once: by the headers or a chunk,
 * by a time-out (`UPSTREAM_TIMEOUT`), by `cancel`, or by a failure of the network (`UPSTREAM_UNREACHABLE` before the headers, `UPSTREAM_CUT`
 * in the body), whatever the HTTP client does with its signal.
 */
export class ProviderCall implements ByteStream {
  readonly #clock: Clock
  readonly #limits: TimeLimits
  readonly #startedAt: number
  #pending: PendingAnswer | undefined = undefined // once it is open
  readonly #onDeadline = () => this.#checkTime()
  #totalTimeoutMs: number
  #isOpening: boolean
  #body: ByteStream | undefined = undefined // set when the headers have arrived
  #waitingSince: number | undefined = undefined
  #rejectWait: ((reason: unknown) => void) | undefined = undefined
  #stopped: { reason: unknown } | undefined = undefined
  #cancelDeadline: CancelDeadline = () => {}

  constructor({ clock, limits, stream = false }: ProviderCallOptions) {
    this.#clock = clock
    this.#limits = limits
    this.#totalTimeoutMs = stream ? limits.headersTimeoutMs : limits.totalTimeoutMs
    this.#isOpening = stream
    this.#startedAt = clock.now()
  }

  /** Makes the call, once, and keeps nothing of it: its body may be large. Resolves when the headers of the answer are here. */
  open(call: UpstreamCall, fetch: UpstreamFetch): Promise<UpstreamAnswer> {
    const { headersTimeoutMs, silenceTimeoutMs } = this.#limits
    const pending = startCall(fetch, call)
    this.#pending = pending
    // Never later than silence could end, so that nothing has to be set anew when the headers come.
    const firstMs = Math.min(headersTimeoutMs, silenceTimeoutMs, this.#totalTimeoutMs)
    this.#cancelDeadline = startDeadline(this.#clock, firstMs, this.#onDeadline)
    return this.#wait(pending.answer, (answer) => {
      this.#body = answer.body
      return new AnswerWithBody(answer, this)
    })
  }

  next(): Promise<Uint8Array | undefined> {
    if (!this.#body) return NOTHING
    this.#waitingSince = this.#clock.now()
    return this.#wait(this.#body.next(), (chunk) => {
      if (!chunk) this.#cancelDeadline() // the body is complete
      return chunk
    })
  }

  whole(): Promise<Uint8Array> | undefined {
    this.#waitingSince = this.#clock.now()
    const reading = this.#body?.whole?.()
    return (
      reading &&
      this.#wait(reading, (bytes) => {
        this.#cancelDeadline()
        return bytes
      })
    )
  }

  cancel(reason?: unknown): void {
    if (this.#stopped) return
    this.#stopped = { reason }
    this.#cancelDeadline()
    this.#rejectWait?.(reason)
    this.#pending?.cancel(reason)
  }

  /** Replaces the total time-out after the headers have arrived: the stream has begun, or the answer is no stream. */
  setTotalTimeout(timeoutMs: number): void {
    const isSooner = timeoutMs < this.#totalTimeoutMs
    this.#totalTimeoutMs = timeoutMs
    this.#isOpening = false
    if (isSooner && !this.#stopped) this.#checkTime() // a later end is noticed by the next deadline
  }

  /** Limits the time for the rest of the body. */
  limitRemaining(timeoutMs: number): void {
    this.#totalTimeoutMs = Math.min(this.#totalTimeoutMs, this.#clock.now() - this.#startedAt + timeoutMs)
    if (!this.#stopped) this.#checkTime()
  }

  /** Resolves to what `onResult` makes of the result; rejects at once when the call is cancelled first. Only one wait at a time. */
  #wait<T, R>(work: Promise<T>, onResult: (result: T) => R): Promise<R> {
    return new Promise((resolve, reject) => {
      if (this.#stopped) reject(this.#stopped.reason)
      this.#rejectWait = reject
      work.then(
        (result) => {
          if (this.#rejectWait === reject) this.#rejectWait = undefined // otherwise the promise would keep the result in memory
          this.#waitingSince = undefined
          resolve(onResult(result))
        },
        (thrown) => {
          this.#cancelDeadline()
          reject(this.#stopped ? this.#stopped.reason : callError(thrown, this.#body !== undefined))
        },
      )
    })
  }

  /**
   * Cancels the call when a time-out has passed, otherwise sets the next deadline. Silence counts only while a chunk is waited for: the time
   * that a slow client takes to read is not the provider's.
   */
  #checkTime(): void {
    const { silenceTimeoutMs, headersTimeoutMs } = this.#limits
    const now = this.#clock.now()
    const endsAt = this.#startedAt + this.#totalTimeoutMs
    const waitEndsAt = this.#body ? (this.#waitingSince ?? now) + silenceTimeoutMs : this.#startedAt + headersTimeoutMs
    const leftMs = waitEndsAt - now
    this.#cancelDeadline()
    if (now >= endsAt) this.cancel(this.#notFinished())
    else if (leftMs > 0)
      this.#cancelDeadline = startDeadline(
        this.#clock,
        Math.min(leftMs, silenceTimeoutMs, endsAt - now),
        this.#onDeadline,
      )
    else if (this.#body) this.cancel(timedOut(`was silent for ${silenceTimeoutMs / 1000} s`))
    else this.cancel(timedOut(`sent no answer within ${headersTimeoutMs / 1000} s`))
  }

  #notFinished(): GatewayError {
    const what = this.#isOpening ? 'sent no answer' : 'did not finish its answer'
    return timedOut(`${what} within ${this.#totalTimeoutMs / 1000} s`)
  }
}

const NOTHING = Promise.resolve(undefined)

const timedOut = (what: string) => gatewayError('UPSTREAM_TIMEOUT', { message: `The provider ${what}.` })

/** The head of an answer, with another body. */
export class AnswerWithBody implements UpstreamAnswer {
  readonly status: number
  readonly body: ByteStream
  readonly #answer: UpstreamAnswer

  constructor(answer: UpstreamAnswer, body: ByteStream) {
    this.status = answer.status
    this.body = body
    this.#answer = answer
  }

  header(name: string): string | undefined {
    return this.#answer.header(name)
  }

  headers(): Iterable<[string, string]> {
    return this.#answer.headers()
  }
}

/** The error of a call that has failed by itself, before the headers of its answer or in its body. */
function callError(thrown: unknown, isAnswered: boolean): GatewayError {
  if (isTimeout(thrown)) return gatewayError('UPSTREAM_TIMEOUT', { message: OUT_OF_TIME })
  return isAnswered ? gatewayError('UPSTREAM_CUT', { cause: thrown }) : unreachable(thrown)
}

const OUT_OF_TIME = 'The provider was slower than the HTTP client of the gateway allows.'

/** Is this a time-out of the HTTP client itself, by undici or a signal, which was shorter than the gateway's? */
function isTimeout(thrown: unknown): boolean {
  const cause = causeOf(thrown)
  return isObject(cause) && [cause.code, cause.name].some((said) => TIMEOUTS.test(String(said)))
}

const TIMEOUTS = /^(?:UND_ERR_(?:HEADERS|BODY)_TIMEOUT|TimeoutError)$/

/**
 * The error for a failed connection. Its message names the failure but no address: ECONNREFUSED, ENOTFOUND, a TLS code. Only a cause with
 * such a code is kept: an error about the request itself may quote a header.
 */
function unreachable(thrown: unknown): GatewayError {
  const cause = causeOf(thrown)
  const own = isObject(cause) ? cause.code : undefined
  const code = own ?? codeInWords(cause)
  if (typeof code !== 'string' || code === 'UND_ERR_INVALID_ARG') return gatewayError('UPSTREAM_UNREACHABLE')
  const advice = 'Check the base URL of its connection, and whether the gateway gets there: DNS, proxy, firewall.'
  const message = `The provider cannot be reached (${code}). ${advice}`
  return gatewayError('UPSTREAM_UNREACHABLE', { message, ...(own !== undefined && { cause }), data: { code } })
}

const causeOf = (thrown: unknown) => (thrown instanceof Error && thrown.cause !== undefined ? thrown.cause : thrown)

/** The code for Deno's message, as Deno's errors have no codes: "client error (Connect): tcp connect error: Connection refused (os error 111)". */
function codeInWords(cause: unknown): string | undefined {
  const [, words] = (cause instanceof Error && /client error \(Connect\)(.*)/.exec(cause.message)) || []
  if (words === undefined) return undefined
  if (words.includes('dns error')) return 'ENOTFOUND'
  return words.includes('refused') ? 'ECONNREFUSED' : 'CONNECT'
}
