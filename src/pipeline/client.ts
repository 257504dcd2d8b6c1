import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { InFlight, InFlightEntry } from '../lib/in-flight.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Clock } from '../types.ts'

/** The header by which a client says how long it waits at most, in ms. */
export const TIMEOUT_HEADER = 'x-signalbox-timeout-ms'

/** Work that can be cancelled: an attempt, a stream, a download. */
export interface Cancellable {
  cancel(reason: unknown): void
}

/**
 * The client of one request, for as long as it waits for the answer. It is gone when it has left (`CLIENT_CLOSED_REQUEST`), its time-out is
 * over (`UPSTREAM_TIMEOUT`), the gateway closes (`CLOSED`), or its key was paused or deleted (`KEY_PAUSED`, `KEY_UNKNOWN`); each cancels at
 * once what is under way for it.
 */
export class Client {
  /** Why the client no longer waits. */
  gone: GatewayError | undefined = undefined
  /** When its time-out ends; epoch ms. */
  timeoutAt = Number.POSITIVE_INFINITY
  readonly keyDigest: string | undefined
  #work: Cancellable | undefined = undefined
  #besides: Set<Cancellable> | undefined = undefined // most requests have none
  #isOver = false
  #rejectWaiting: ((reason: unknown) => void) | undefined = undefined
  #cancelTimeout: CancelDeadline | undefined = undefined
  readonly #inFlight: InFlight
  readonly #entry: InFlightEntry
  readonly #stopListening: () => void

  constructor(exchange: Exchange, inFlight: InFlight, key: PresentedKey | undefined) {
    this.keyDigest = key?.digest
    this.#inFlight = inFlight
    this.#entry = inFlight.add(this)
    this.#stopListening = exchange.onAbort(() => this.cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
  }

  /**
   * Starts the time-out that the client asked for, if it did. It covers all attempts, until the answer is whole or its stream has begun, and
   * can only shorten the gateway's own time-outs. Throws `INVALID_REQUEST` unless the header is a whole number of ms, from 1 to a day.
   */
  startTimeout(exchange: Pick<Exchange, 'header'>, clock: Clock): void {
    const ms = askedTimeout(exchange)
    if (ms === undefined) return
    if (Number.isNaN(ms)) {
      throw gatewayError('INVALID_REQUEST', {
        message: `The header "${TIMEOUT_HEADER}" must be a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
      })
    }
    this.timeoutAt = clock.now() + ms
    this.#cancelTimeout = startDeadline(clock, ms, () => this.cancel(timedOut(ms)))
  }

  /** Ends the time-out: there is an answer. */
  stopTimeout(): void {
    this.#cancelTimeout?.()
  }

  /** The result of the work; rejects with `gone` as soon as the client no longer waits. One call at a time. */
  unlessGone<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#rejectWaiting = reject
      if (this.gone) reject(this.gone)
      work.then((result) => {
        if (this.#rejectWaiting === reject) this.#rejectWaiting = undefined // its promise keeps the result, maybe a large body
        resolve(result)
      }, reject)
    })
  }

  /** Sets what is cancelled when the client is gone: the attempt under way, then the stream that it brought. */
  follows(next: Cancellable): void {
    this.#work = next
    if (this.gone) next.cancel(this.gone)
  }

  /** Sets other work that is cancelled then, and also when there is an answer without it. Returns the function that ends this. */
  alsoFollows(other: Cancellable): () => void {
    const besides = this.#besides ?? new Set()
    this.#besides = besides
    besides.add(other)
    if (this.gone || this.#isOver) other.cancel(this.gone)
    return () => void besides.delete(other)
  }

  /** Cancels what is under way; the client no longer waits. */
  cancel(reason: unknown): void {
    const gone = this.gone ?? toGatewayError(reason)
    this.gone = gone
    this.#work?.cancel(gone)
    this.#cancelBesides()
    this.#rejectWaiting?.(gone)
  }

  /** Call it when the request is over. */
  stopWatching(): void {
    this.#isOver = true
    this.#cancelTimeout?.()
    if (this.#besides) this.#cancelBesides()
    this.#stopListening()
    this.#inFlight.remove(this.#entry)
  }

  #cancelBesides(): void {
    if (this.#besides) for (const other of this.#besides) other.cancel(this.gone)
  }
}

/** The result of work that comes before the request is read; rejects when the time-out that the client asked for is over. */
export function unlessTimedOut<T>(work: Promise<T>, exchange: Exchange, clock: Clock): Promise<T> {
  const ms = askedTimeout(exchange)
  if (ms === undefined || Number.isNaN(ms)) return work
  return new Promise((resolve, reject) => {
    const cancelDeadline = startDeadline(clock, ms, () => reject(timedOut(ms)))
    work.finally(cancelDeadline).then(resolve, reject)
  })
}

const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000

/** In ms; `NaN` when the header is invalid. */
function askedTimeout(exchange: Pick<Exchange, 'header'>): number | undefined {
  const text = exchange.header(TIMEOUT_HEADER)?.trim()
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) : 0
  return ms < 1 || ms > MAX_TIMEOUT_MS ? Number.NaN : ms
}

const timedOut = (ms: number) =>
  gatewayError('UPSTREAM_TIMEOUT', { message: `There was no answer within the ${ms} ms of "${TIMEOUT_HEADER}".` })
