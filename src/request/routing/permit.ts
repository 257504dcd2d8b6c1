import type { HealthFailure } from './cooldowns.ts'
import type { HealthRecord, ProbeResult } from './health-records.ts'
import type { HealthTarget } from './health-subject.ts'

/** Permission for one call to a target. Exactly one outcome must be reported, so that a probe ends. */
export interface CircuitPermit {
  /** Reports a complete response; for a stream, only that it wasn't cut off. */
  succeed(): void
  /** Reports the beginning of a stream; `succeed` or `failStream` follows. */
  beginStream(): void
  /**
   * Reports that the stream was cut off after it began. Counts against the model until another response is complete, unless its
   * class specifies otherwise.
   */
  failStream(failure: HealthFailure): void
  fail(failure: HealthFailure): void
  /** Releases the permit without an outcome, for example if the client disconnected. */
  drop(): void
}

/** A call with a permit. */
export interface PermittedCall {
  target: HealthTarget
  /** The call's position in the order of all calls and cooldowns. */
  callNumber: number
  /** The records that the call probes, and the function that ends the probe; `undefined` if the target was healthy when the call began. */
  probe: { records: readonly HealthRecord[]; end(ending: ProbeResult): void } | undefined
  /** Whether the response has begun to stream. */
  hasStreamBegun: boolean
  /** Whether the call has been counted as a success. */
  isCounted: boolean
}

/** Applies the outcomes of calls once any target has failed. */
export interface OutcomeHandler {
  succeed(call: PermittedCall): void
  beginStream(call: PermittedCall): void
  /** Returns whether streams from the call's target have been cut off, so the beginning of another one isn't a sign of recovery. */
  hasCutStreams(call: PermittedCall): boolean
  failStream(call: PermittedCall, failure: HealthFailure): void
  fail(call: PermittedCall, failure: HealthFailure): void
}

interface PermitOptions {
  countSuccess(target: HealthTarget): void
  /** `undefined` until a call has failed. */
  getHandler(): OutcomeHandler | undefined
  /** Calls `report` once the code for failures is loaded. */
  reportFailure(report: (handler: OutcomeHandler) => void): void
}

/** Creates the permit for a new call. */
export const createPermit = (
  target: HealthTarget,
  start: Pick<PermittedCall, 'callNumber' | 'probe'>,
  options: PermitOptions,
): CircuitPermit => new TargetPermit({ ...start, target, hasStreamBegun: false, isCounted: false }, options)

class TargetPermit implements CircuitPermit {
  readonly #call: PermittedCall
  readonly #options: PermitOptions

  constructor(call: PermittedCall, options: PermitOptions) {
    this.#call = call
    this.#options = options
  }

  drop(): void {
    this.#call.probe?.end('dropped')
  }

  succeed(): void {
    if (!this.#call.isCounted) this.#options.countSuccess(this.#call.target)
    this.#options.getHandler()?.succeed(this.#call)
  }

  /** The beginning of a stream is treated as a success, unless earlier streams have been cut off. */
  beginStream(): void {
    const call = this.#call
    const handler = this.#options.getHandler()
    call.hasStreamBegun = true
    call.isCounted = !handler?.hasCutStreams(call)
    if (call.isCounted) this.#options.countSuccess(call.target)
    handler?.beginStream(call)
  }

  failStream(failure: HealthFailure): void {
    this.#options.reportFailure((handler) => handler.failStream(this.#call, failure))
  }

  fail(failure: HealthFailure): void {
    this.#options.reportFailure((handler) => handler.fail(this.#call, failure))
  }
}
