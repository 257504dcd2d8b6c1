import type { GatewayError } from '../errors.ts'
import type { UpstreamResponse } from '../lib/exchange.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { Failure } from './codec/call-failure.ts'
import type { Codec } from './codec/codec.ts'
import type { ReceivedResponse } from './codec/response.ts'
import type { Route } from './routing/group.ts'
import type { CircuitPermit } from './routing/permit.ts'
import type { OutputAllowance } from './steps.ts'

/** A target to try. */
export interface Target {
  route: Route
  /** Reports the call's result to the target's health. Acquired when the target was chosen. */
  permit: CircuitPermit
}

/** The outcome of an attempt. */
export type Outcome = AnsweredAttempt | FailedAttempt | RejectedAttempt

/**
 * An attempt with a response for the client. Objects that live as long as the stream must not refer to it, because its codec references the request
 * body, which may be large.
 */
export interface AnsweredAttempt {
  kind: 'answered'
  route: Route
  codec: Codec
  response: ReceivedResponse
  /** The bytes of a complete response, in the client's format. */
  bytes: Uint8Array | undefined
  /** The credentials of the call, which must not reach the client. */
  secrets: readonly string[]
  /** The output that its stream may send, if a step limits it. */
  allowance: OutputAllowance | undefined
  log: AttemptLog
}

/** An attempt that failed. */
export interface FailedAttempt {
  kind: 'failed'
  route: Route
  failure: Failure
  /** The head of the provider's response, if there was one. */
  head?: UpstreamResponse
  /** The response, if its only defect is that it is empty. It is used if all responses are empty. */
  unusedAttempt?: AnsweredAttempt
}

/** An attempt that a step or the target's format rejected before its provider was called. */
export interface RejectedAttempt {
  kind: 'rejected'
  route: Route
  error: GatewayError
  /**
   * `request`: the entire request is rejected, so no other target is tried. `target`: a step rejected only this target. `format`: the target's
   * format doesn't support the request.
   */
  scope: 'request' | 'target' | 'format'
}
