import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { InFlight, InFlightEntry } from '../lib/in-flight.ts'
import type { PresentedKey } from '../store/keyring.ts'

/** The header by which a client says how long it waits at most, in ms. */
export const TIMEOUT_HEADER = 'x-signalbox-timeout-ms'

/** The client of a request, for as long as it waits for the answer. */
export interface Client {
  /**
   * Why the client no longer waits: it has left (`CLIENT_CLOSED_REQUEST`), its time-out is over (`UPSTREAM_TIMEOUT`), the gateway has
   * closed (`CLOSED`), or its key was paused or deleted (`KEY_PAUSED`, `KEY_UNKNOWN`).
   */
  gone: GatewayError | undefined
  /** When its time-out ends; epoch ms. */
  timeoutAt: number
  /** The result of the work; rejects with `gone` as soon as the client no longer waits. One call at a time. */
  unlessGone<T>(work: Promise<T>): Promise<T>
  /** Sets what is cancelled when the client leaves: the attempt under way, then the stream that it brought. */
  follows(work: Cancellable): void
  /** The same for work beside it; it is also cancelled when there is an answer without it. Returns the function that ends this. */
  alsoFollows(work: Cancellable): () => void
  /** Cancels what is under way; the client no longer waits. */
  giveUp(reason: unknown): void
  stopWatching(): void
}

interface Cancellable {
  cancel(reason: unknown): void
}

/** Watches for the client's leaving, the gateway's closing and the end of its key; each cancels at once what is under way for it. */
export const watchClient = (exchange: Exchange, inFlight: InFlight, key: PresentedKey | undefined): Client =>
  new WatchedClient(exchange, inFlight, key)

/** The client of one request. */
class WatchedClient implements Client {
  gone: GatewayError | undefined = undefined
  timeoutAt = Number.POSITIVE_INFINITY
  readonly keyDigest: string | undefined
  #work: Cancellable | undefined = undefined
  #beside: Set<Cancellable> | undefined = undefined // most requests have none
  #isOver = false
  #rejectWaiting: ((reason: unknown) => void) | undefined = undefined
  readonly #inFlight: InFlight
  readonly #entry: InFlightEntry
  readonly #stopListening: () => void

  constructor(exchange: Exchange, inFlight: InFlight, key: PresentedKey | undefined) {
    this.keyDigest = key?.digest
    this.#inFlight = inFlight
    this.#entry = inFlight.add(this)
    this.#stopListening = exchange.onAbort(() => this.cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
  }

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

  follows(next: Cancellable): void {
    this.#work = next
    if (this.gone) next.cancel(this.gone)
  }

  alsoFollows(other: Cancellable): () => void {
    const beside = this.#beside ?? new Set()
    this.#beside = beside
    beside.add(other)
    if (this.gone || this.#isOver) other.cancel(this.gone)
    return () => void beside.delete(other)
  }

  giveUp(reason: unknown): void {
    this.cancel(reason)
  }

  /** Called when the gateway closes, or the key may no longer be used. */
  cancel(reason: unknown): void {
    const gone = this.gone ?? toGatewayError(reason)
    this.gone = gone
    this.#work?.cancel(gone)
    this.#cancelBeside()
    this.#rejectWaiting?.(gone)
  }

  stopWatching(): void {
    this.#isOver = true
    this.#cancelBeside()
    this.#stopListening()
    this.#inFlight.remove(this.#entry)
  }

  #cancelBeside(): void {
    if (this.#beside) for (const other of this.#beside) other.cancel(this.gone)
  }
}
