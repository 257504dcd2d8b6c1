import { type GatewayError, gatewayError, toGatewayError } from '../errors.ts'
import { type CancelDeadline, startDeadline } from '../lib/deadline.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { InFlight, InFlightEntry } from '../lib/in-flight.ts'
import { Scope } from '../lib/scope.ts'
import type { Clock } from '../types.ts'
import { ANONYMOUS_CALLER, type Caller } from './caller.ts'
import type { RequestLog } from './request-log.ts'

/** The header in which a client sets its maximum wait, in ms. */
const TIMEOUT_HEADER = 'x-signalbox-timeout-ms'

/**
 * One request's client, for as long as it waits for the response. It stops waiting if it disconnects (`CLIENT_CLOSED_REQUEST`), its timeout expires
 * (`UPSTREAM_TIMEOUT`), the gateway closes (`CLOSED`), or its key is paused or deleted (`KEY_PAUSED`, `KEY_UNKNOWN`). Each of these ends its scope,
 * and with it all work for the client.
 */
export class Client {
  /** The scope for all work that only runs while the client waits: an attempt, a stream, a download. */
  readonly scope = new Scope()
  /** Why the client stopped waiting. */
  goneReason: GatewayError | undefined = undefined
  /** When the client's timeout expires, in epoch ms. */
  timeoutAt = Number.POSITIVE_INFINITY
  /** The caller, once it is known, even if its key is rejected. */
  caller: Caller = ANONYMOUS_CALLER
  /** The log of the client's request. */
  readonly log: RequestLog
  readonly #timeoutMs: number | undefined
  readonly #clock: Clock
  readonly #startedAt: number
  #cancelTimeout: CancelDeadline | undefined = undefined
  #controller: AbortController | undefined = undefined
  readonly #inFlight: InFlight
  readonly #inFlightEntry: InFlightEntry
  readonly #stopListening: () => void

  /**
   * Starts with the timeout that the client requested, if any. It covers all attempts, until the response is complete or its stream has started,
   * and can only shorten the gateway's own timeouts.
   */
  constructor(exchange: Exchange, log: RequestLog, { inFlight, clock }: { inFlight: InFlight; clock: Clock }) {
    this.log = log
    this.#inFlight = inFlight
    this.#inFlightEntry = inFlight.add(this)
    this.#stopListening = exchange.onAbort(() => this.cancel(gatewayError('CLIENT_CLOSED_REQUEST')))
    this.#clock = clock
    this.#startedAt = clock.now()
    this.#timeoutMs = readRequestedTimeout(exchange)
    if (this.#timeoutMs) this.limitWait(this.#timeoutMs, TIMEOUT_HEADER)
  }

  /** Whether the client has its own timeout. */
  get hasTimeout(): boolean {
    return this.#cancelTimeout !== undefined
  }

  /** Sets the timeout to `ms` from the start of the request, unless it is already shorter. `name` is the part of the request that set it. */
  limitWait(ms: number, name: string): void {
    const timeoutAt = this.#startedAt + ms
    if (timeoutAt >= this.timeoutAt) return
    this.#cancelTimeout?.()
    this.timeoutAt = timeoutAt
    const remainingMs = Math.max(0, timeoutAt - this.#clock.now())
    this.#cancelTimeout = startDeadline(this.#clock, remainingMs, () => this.cancel(createTimeoutError(ms, name)))
  }

  /** Throws `INVALID_REQUEST` unless the timeout is a whole number of ms, from 1 to a day. */
  checkTimeout(): void {
    if (!Number.isNaN(this.#timeoutMs)) return
    throw gatewayError('INVALID_REQUEST', {
      message: `The header "${TIMEOUT_HEADER}" must be a whole number of milliseconds from 1 to ${MAX_TIMEOUT_MS}.`,
    })
  }

  /** Aborts when the client stops waiting, or the request is over. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      const controller = new AbortController()
      this.#controller = controller
      this.scope.add((reason) => controller.abort(reason))
    }
    return this.#controller.signal
  }

  /** Ends the timeout, because there is a response. */
  stopTimeout(): void {
    this.#cancelTimeout?.()
  }

  /** Records that the client has stopped waiting, and ends its scope. */
  cancel(reason: unknown): void {
    this.goneReason ??= toGatewayError(reason)
    this.scope.end(this.goneReason)
  }

  /** Ends the remaining work, which is no longer needed because the request is over. */
  release(): void {
    this.scope.end(undefined)
    this.#cancelTimeout?.()
    this.#stopListening()
    this.#inFlight.remove(this.#inFlightEntry)
  }
}

const MAX_TIMEOUT_MS = 24 * 60 * 60 * 1_000

/** Returns the timeout in ms, or `NaN` if the header is invalid. */
function readRequestedTimeout(exchange: Pick<Exchange, 'header'>): number | undefined {
  const headerValue = exchange.header(TIMEOUT_HEADER)?.trim()
  if (headerValue === undefined) return undefined
  const timeoutMs = /^\d{1,9}$/.test(headerValue) ? Number(headerValue) : 0
  return timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS ? Number.NaN : timeoutMs
}

const createTimeoutError = (ms: number, name: string) =>
  gatewayError('UPSTREAM_TIMEOUT', {
    message: `No response within the ${ms} ms that "${name}" allows. Raise it or try another model.`,
  })
