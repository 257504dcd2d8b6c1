import { gatewayError } from '../errors.ts'
import { AnswerWith } from '../lib/answer-with.ts'
import { startCall } from '../lib/call.ts'
import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import {
  type ByteStream,
  NO_BYTES,
  type PendingAnswer,
  type UpstreamAnswer,
  type UpstreamCall,
  type UpstreamFetch,
} from '../lib/exchange.ts'
import { inThisContext } from '../lib/in-context.ts'
import type { Clock } from '../types.ts'

/** The `fetch` of a call, and its time-outs. */
export interface OpenOptions {
  fetch: UpstreamFetch
  clock: Clock
  limits: TimeLimits
  /** Is a stream asked for? It has `headersTimeoutMs` for its beginning, in place of `totalTimeoutMs`, until `setTotal`. */
  stream?: boolean
}

/** The time-outs of a call. */
export interface TimeLimits {
  /** From the start of the call to the headers of the answer. */
  headersTimeoutMs: number
  /** Between two chunks of the body. */
  silenceTimeoutMs: number
  /** From the start of the call to the end of the body; a stream has no such limit after its first content. */
  totalTimeoutMs: number
}

/** A call under way, whose time-outs depend on its answer. */
export interface OpenedUpstream extends PendingAnswer {
  /** Replaces `totalTimeoutMs`, once the headers are here: the stream has begun, or turned out to be none. */
  setTotal(timeoutMs: number): void
  /** What is left of the body has so long at most. */
  hurry(timeoutMs: number): void
}

/**
 * Starts a call whose every wait ends: by its headers or chunks, by a time-out (`UPSTREAM_TIMEOUT`), by `cancel`, or by a failure of
 * the network (`UPSTREAM_UNREACHABLE` before the headers, `UPSTREAM_CUT` in the body), whatever the HTTP client does with its signal.
 */
export const openUpstream = (call: UpstreamCall, options: OpenOptions): OpenedUpstream => new WatchedCall(call, options)

/** A call with its time-outs, which is also the body of its answer. */
class WatchedCall implements OpenedUpstream, ByteStream {
  readonly answer: Promise<UpstreamAnswer>
  readonly #options: OpenOptions
  readonly #startedAt: number
  readonly #pending: PendingAnswer
  readonly #onBroken: (thrown: unknown) => Promise<never>
  readonly #watch: () => void
  readonly #expireInContext: ((reason: unknown) => void) | undefined
  #totalTimeoutMs: number
  #isOpening: boolean
  #isAnswered = false
  #waitingSince: number | undefined = undefined
  #stopped: { reason: unknown } | undefined = undefined
  #body: ByteStream = NO_BYTES // as long as there is no answer
  #cancelDeadline: CancelDeadline

  constructor(call: UpstreamCall, options: OpenOptions) {
    const { fetch, clock, limits, stream = false } = options
    const { headersTimeoutMs, silenceTimeoutMs } = limits
    const totalTimeoutMs = stream ? headersTimeoutMs : limits.totalTimeoutMs
    this.#options = options
    this.#totalTimeoutMs = totalTimeoutMs
    this.#isOpening = stream
    this.#startedAt = clock.now()
    this.#onBroken = (thrown) => this.#broken(thrown)
    this.#watch = () => this.#look()
    // The host's `fetch` may listen to its signal. Calls that are `raw` call nothing of the host, unless it has replaced Bun's own `fetch`.
    this.#expireInContext = fetch.raw ? undefined : inThisContext((reason) => this.cancel(reason))
    this.#pending = startCall(fetch, call)
    // Never later than silence could end, so that nothing has to be set anew when the headers come.
    this.#cancelDeadline = startDeadline(
      clock,
      Math.min(headersTimeoutMs, silenceTimeoutMs, totalTimeoutMs),
      this.#watch,
    )
    this.answer = this.#pending.answer.then((head) => this.#answered(head), this.#onBroken)
  }

  cancel(reason: unknown): void {
    if (this.#stopped) return
    this.#stopped = { reason }
    this.#cancelDeadline()
    this.#pending.cancel(reason)
  }

  setTotal(timeoutMs: number): void {
    const isSooner = timeoutMs < this.#totalTimeoutMs
    this.#totalTimeoutMs = timeoutMs
    this.#isOpening = false
    if (isSooner && !this.#stopped) this.#look() // else whoever wakes first sees that there is more time
  }

  hurry(timeoutMs: number): void {
    this.#totalTimeoutMs = Math.min(this.#totalTimeoutMs, this.#options.clock.now() - this.#startedAt + timeoutMs)
    if (!this.#stopped) this.#look()
  }

  next(): Promise<Uint8Array | undefined> {
    this.#waitingSince = this.#options.clock.now()
    return this.#body.next().then((chunk) => this.#arrived(chunk, !chunk), this.#onBroken)
  }

  whole(): Promise<Uint8Array> | undefined {
    this.#waitingSince = this.#options.clock.now()
    return this.#body.whole?.()?.then((bytes) => this.#arrived(bytes, true), this.#onBroken)
  }

  #answered(answer: UpstreamAnswer): UpstreamAnswer {
    if (this.#stopped) throw this.#stopped.reason
    this.#isAnswered = true
    this.#body = answer.body
    return new AnswerWith(answer, this)
  }

  async #broken(thrown: unknown): Promise<never> {
    this.#cancelDeadline()
    if (this.#stopped) throw this.#stopped.reason
    const { brokenCall } = await import('./broken-call.ts')
    throw brokenCall(thrown, this.#isAnswered)
  }

  /** Silence counts while a chunk is waited for; a client that reads slowly is not the provider's silence. */
  #look(): void {
    const { clock, limits } = this.#options
    const { silenceTimeoutMs, headersTimeoutMs } = limits
    const now = clock.now()
    const endsAt = this.#startedAt + this.#totalTimeoutMs
    const waitEndsAt = this.#isAnswered
      ? (this.#waitingSince ?? now) + silenceTimeoutMs
      : this.#startedAt + headersTimeoutMs
    const leftMs = waitEndsAt - now
    this.#cancelDeadline()
    if (now >= endsAt) this.#expire(this.#notFinished())
    else if (leftMs > 0)
      this.#cancelDeadline = startDeadline(clock, Math.min(leftMs, silenceTimeoutMs, endsAt - now), this.#watch)
    else if (this.#isAnswered) this.#expire(timedOut(`was silent for ${silenceTimeoutMs / 1000} s`))
    else this.#expire(timedOut(`sent no answer within ${headersTimeoutMs / 1000} s`))
  }

  #expire(reason: unknown): void {
    if (this.#expireInContext) this.#expireInContext(reason)
    else this.cancel(reason)
  }

  #notFinished() {
    const what = this.#isOpening ? 'sent no answer' : 'did not finish its answer'
    return timedOut(`${what} within ${this.#totalTimeoutMs / 1000} s`)
  }

  /** What came of the body; behind the last there is nothing to wait for. */
  #arrived<T>(part: T, isLast: boolean): T {
    if (isLast) this.#cancelDeadline()
    if (this.#stopped) throw this.#stopped.reason
    this.#waitingSince = undefined
    return part
  }
}

const timedOut = (what: string) => gatewayError('UPSTREAM_TIMEOUT', { message: `The provider ${what}.` })
