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
  /** Tells the target's health what becomes of the call; it was taken when the target was chosen. */
  permit: CircuitPermit
}

/** The outcome of an attempt. */
export type Outcome = Answered | Failed | RefusedTarget

/**
 * An attempt that has an answer for the client. What lives as long as the stream must not hold it: its codec has the body of the request,
 * which may be large.
 */
export interface Answered {
  kind: 'answered'
  route: Route
  codec: Codec
  response: ReceivedResponse
  /** The bytes of a whole answer, in the client's format. */
  bytes: Uint8Array | undefined
  /** The credentials of the call, which must not reach the client. */
  secrets: readonly string[]
  /** How far its stream may go, where a step limits that. */
  allowance: OutputAllowance | undefined
  log: AttemptLog
}

/** An attempt that has failed. */
export interface Failed {
  kind: 'failed'
  route: Route
  failure: Failure
  /** The head of the provider's response, if there was one. */
  head?: UpstreamResponse
  /** The answer, if its only defect is that it is empty: the last resort when all answers are empty. */
  empty?: Answered
}

/** An attempt that a step, or the target's format, has refused before its provider was called. */
export interface RefusedTarget {
  kind: 'refused'
  route: Route
  error: GatewayError
  /** What is refused: the whole request, so that no other target is tried, or this target, by a step or because its format can't carry the request. */
  scope: 'request' | 'target' | 'format'
}
