import type { GatewayError } from '../../errors.ts'
import type { Spending } from '../../pricing/cost.ts'
import { findSurcharge } from '../../pricing/surcharge-fields.ts'
import type { AttemptLog } from '../attempt-log.ts'
import type { Codec, CodecRequest } from '../codec/codec.ts'
import { encodeRequest } from '../codec/encode.ts'
import { encodeWithLimit } from '../codec/encode-with-limit.ts'
import type { AttemptRecord } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import { createRejection } from '../route-request.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AttemptControls, AttemptStep, EncodedCall, OutputAllowance } from '../steps.ts'

/** An attempt as seen by the steps around it, and the settings that they choose for it. */
export class AttemptSettings implements AttemptControls {
  readonly request: ModelRequest
  readonly target: RouteTarget
  /** The maximum number of output tokens. */
  outputLimit: number | undefined = undefined
  allowance: OutputAllowance | undefined = undefined
  /** The checks before each further call that belongs to the attempt. */
  readonly followUpChecks: Array<(spending: Spending | undefined) => Promise<void>> = []
  /** Whether a step has rejected the entire request. */
  rejectsRequest = false
  readonly #callChecks: Array<(call: EncodedCall) => void> = []
  readonly #log: AttemptLog

  constructor(request: ModelRequest, target: RouteTarget, log: AttemptLog) {
    this.request = request
    this.target = target
    this.#log = log
  }

  /** Runs the steps around the attempt; see `runAttemptSteps`. */
  runSteps(steps: readonly AttemptStep[]): Promise<void> {
    const waitUntilSettled = () => this.#log.waitUntilSettled()
    return runAttemptSteps(steps, this, { settled: waitUntilSettled, onError: this.request.context.onError })
  }

  /** Writes the request for the target, with the output limit if there is one. */
  encode(request: CodecRequest, target: RouteTarget): Promise<Codec> {
    return this.outputLimit === undefined
      ? encodeRequest(request, target)
      : encodeWithLimit(request, target, this.outputLimit)
  }

  /** Runs the checks that steps have added. */
  check(codec: Codec): void {
    const { body } = this.request.call
    for (const check of this.#callChecks)
      check({ findSurcharge: (pricedTier) => findSurcharge(codec, body, pricedTier) })
  }

  limitOutput(tokens: number): void {
    this.outputLimit = Math.min(this.outputLimit ?? Number.POSITIVE_INFINITY, tokens)
  }

  failRequest(error: GatewayError): never {
    this.rejectsRequest = true
    throw error
  }

  reject(message: string, { status = 403 }: { status?: number } = {}): never {
    throw createRejection(message, status)
  }

  rejectRequest(message: string, { status = 403 }: { status?: number } = {}): never {
    return this.failRequest(createRejection(message, status))
  }

  onSettled(listener: (record: AttemptRecord) => void): void {
    this.#log.onSettled(listener)
  }

  allowOutput(allowance: OutputAllowance): void {
    this.allowance = allowance
  }

  beforeCall(check: (call: EncodedCall) => void): void {
    this.#callChecks.push(check)
  }

  beforeFollowUp(check: (spending: Spending | undefined) => Promise<void>): void {
    this.followUpChecks.push(check)
  }
}

/**
 * Runs the steps around an attempt, from the outermost one to the attempt itself. Resolves when all of them have called `next`. Rejects with the
 * first error thrown before that. `waitUntilSettled` resolves when the attempt has settled, or if it wasn't made. Errors after the attempt go to
 * `onError`.
 */
function runAttemptSteps(
  steps: readonly AttemptStep[],
  attempt: AttemptControls,
  { settled: waitUntilSettled, onError }: { settled(): Promise<AttemptRecord>; onError(error: unknown): void },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isDecided = false

    async function runStepsFrom(index: number): Promise<AttemptRecord> {
      const step = steps[index]
      if (!step) {
        isDecided = true
        resolve()
        return waitUntilSettled()
      }
      let laterSteps: Promise<AttemptRecord> | undefined
      try {
        await step(attempt, () => (laterSteps ??= runStepsFrom(index + 1)))
      } catch (error) {
        if (isDecided) onError(error)
        else reject(error)
        isDecided = true
      }
      return laterSteps ?? (isDecided ? waitUntilSettled() : runStepsFrom(index + 1)) // a step that doesn't reject anything doesn't have to call `next`
    }

    void runStepsFrom(0)
  })
}
