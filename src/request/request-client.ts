import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { InFlight, InFlightEntry } from '../lib/in-flight.ts'
import { Scope } from '../lib/scope.ts'
import type { Clock } from '../types.ts'
import { ANONYMOUS, type Caller } from './caller.ts'
import type { RequestLog } from './request-log.ts'

/** The header by which a client says how long it waits at most, in ms. */
const TIMEOUT_HEADER = 'x-signalbox-timeout-ms'

/**
 * The client of one request, for as long as it waits for the answer. It is gone when it has left (`CLIENT_CLOSED_REQUEST`), its time-out is
 * over (`UPSTREAM_TIMEOUT`), the gateway closes (`CLOSED`), or its key was paused or deleted (`KEY_PAUSED`, `KEY_UNKNOWN`); each ends its
 * scope, and with it what is under way for the client.
 */
export class Client {
  /** What goes on for as long as the client waits: an attempt, a stream, a download. */
  readonly scope = new Scope()
  /** Why the client no longer waits. */
  gone: GatewayError | undefined = undefined
  /** When its time-out ends; epoch ms. */
  timeoutAt = Number.POSITIVE_INFINITY
  /** Who the request runs as, once it is known; with a key that is rejected, too. */
  caller: Caller = ANONYMOUS
  /** What becomes of its request. */
  readonly log: RequestLog
  readonly #timeoutMs: number | undefined
  readonly #clock: Clock
  readonly #startedAt: number
  #cancelTimeout: CancelDeadline | undefined = undefined
  #controller: AbortController | undefined = undefined
  readonly #inFlight: InFlight
  readonly #entry: InFlightEntry
  readonly #stopListening: () => void

  /**
   * Begins with the time-out that the client asked for, if it did. It covers all attempts, until the answer is whole or its stream has begun,
   * and can only shorten the gateway's own time-outs.
   */
  constructor(exchange: Exchange, log: RequestLog, { inFlight, clock }: { inFlight: InFlight; clock: Clock }) {
    this.log = log
    this.#inFlight = inFlight
    this.#entry = inFlight.add(this)
    this.#stopListening = exchange.onAbort(() => this.cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#timeoutMs = readRequestedTimeout(exchange)
    if (this.#timeoutMs) this.endAfter(this.#timeoutMs, TIMEOUT_HEADER)
  }

  /** Does it have a time-out of its own? */
  get isTimed(): boolean {
    return this.#cancelTimeout !== undefined
  }

  /** Sets the time-out to `ms` from the beginning of the request, unless it is shorter already. `name`: what of the request says so. */
  endAfter(ms: number, name: string): void {
    const at = this.#startedAt + ms
    if (at >= this.timeoutAt) return
    this.#cancelTimeout?.()
    this.timeoutAt = at
    const left = Math.max(0, at - this.#clock.now())
    this.#cancelTimeout = startDeadline(this.#clock, left, () => this.cancel(createTimeoutError(ms, name)))
  }

  /** Throws `INVALID_REQUEST` unless the time-out is a whole number of ms, from 1 to a day. */
  checkTimeout(): void {
    if (!Number.isNaN(this.#timeoutMs)) return
    throw gatewayError('INVALID_REQUEST', {
      message: `The header "${TIMEOUT_HEADER}" must be a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
    })
  }

  /** Aborts when the client no longer waits, or the request is over. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController()
      this.#controller = controller
      this.scope.add((reason) => controller.abort(reason))
    }
    return this.#controller.signal
  }

  /** Ends the time-out: there is an answer. */
  stopTimeout(): void {
    this.#cancelTimeout?.()
  }

  /** The client no longer waits. */
  cancel(reason: unknown): void {
    this.gone ??= toGatewayError(reason)
    this.scope.end(this.gone)
  }

  /** The request is over: what still goes on for it is not needed. */
  release(): void {
    this.scope.end(undefined)
    this.#cancelTimeout?.()
    this.#stopListening()
    this.#inFlight.remove(this.#entry)
  }
}

const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000

/** In ms; `NaN` when the header is invalid. */
function readRequestedTimeout(exchange: Pick<Exchange, 'header'>): number | undefined {
  const text = exchange.header(TIMEOUT_HEADER)?.trim()
  if (text === undefined) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) : 0
  return ms < 1 || ms > MAX_TIMEOUT_MS ? Number.NaN : ms
}

const createTimeoutError = (ms: number, name: string) =>
  gatewayError('UPSTREAM_TIMEOUT', {
    message: `No response within the ${ms} ms that "${name}" allows. Raise it or try another model.`,
  })
