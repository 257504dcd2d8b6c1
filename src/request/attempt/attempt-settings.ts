import type { GatewayError } from '../../errors.ts'
import { once } from '../../lib/promises.ts'
import type { Spending } from '../../pricing/cost.ts'
import type { AttemptLog } from '../attempt-log.ts'
import type { AttemptRecord } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import { createRejection } from '../route-request.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AttemptControls, EncodedCall, OutputAllowance } from '../steps.ts'

/** Loaded lazily, because few attempts have an output limit. */
export const loadEncodeWithLimit = once(() => import('../codec/encode-with-limit.ts'))

/** An attempt as seen by the steps around it, and the settings that they choose for it. */
export class AttemptSettings implements AttemptControls {
  readonly request: ModelRequest
  readonly target: RouteTarget
  /** The maximum number of output tokens. */
  outputLimit: number | undefined = undefined
  allowance: OutputAllowance | undefined = undefined
  checkCall: ((call: EncodedCall) => void) | undefined = undefined
  checkFollowUp: ((spending: Spending | undefined) => Promise<void>) | undefined = undefined
  /** Whether a step has rejected the entire request. */
  rejectsRequest = false
  readonly #log: AttemptLog

  constructor(request: ModelRequest, target: RouteTarget, log: AttemptLog) {
    this.request = request
    this.target = target
    this.#log = log
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
    this.checkCall = check
  }

  beforeFollowUp(check: (spending: Spending | undefined) => Promise<void>): void {
    this.checkFollowUp = check
  }
}
