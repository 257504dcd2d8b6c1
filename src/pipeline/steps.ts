import { type GatewayError, isGatewayError, toGatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { Route, RouteTarget } from '../routing/group.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Spending } from '../usage/cost.ts'
import type { AttemptRecord } from './records.ts'
import type { ModelRequest } from './request.ts'
import type { RequestLog } from './request-log.ts'

/** A request to a model endpoint, of which the endpoint and the key are known and nothing else has been read. */
export interface ServedRequest {
  readonly exchange: Exchange
  readonly endpoint: Endpoint
  /** The model's name, where the path has it. */
  readonly pathModel?: string | undefined
  /** The client's key; absent when it has none and needs none. */
  readonly key: PresentedKey | undefined
  /** The log of the request; its `onEnd` calls back when all of the request is over. */
  readonly log: RequestLog
}

/**
 * A step around a request to a model endpoint, after its key and its route: it refuses by throwing a `GatewayError` of any status, which the
 * client reads in its own format, or calls `next` and may add headers to the reply. The reply of a stream comes when the stream begins. A step
 * that waits before `next` waits in `request.log.client.scope.race`, which ends with the client and the time-out.
 */
export type RequestStep = (request: ServedRequest, next: () => Promise<Reply>) => Promise<Reply>

/** An attempt as the steps around it see it. */
export interface SteppedAttempt {
  readonly request: ModelRequest
  readonly target: RouteTarget
  /** Lets the target answer with at most so many tokens. Call it before `next`; `x-signalbox-warning` names it, unless the request asks for less. */
  limitOutput(tokens: number): void
  /** Refuses the whole request in place of the target alone: no other target is tried, and the client reads the error. Call it before `next`. */
  refuseRequest(error: GatewayError): never
  /**
   * Calls `listener` with the record in the moment in which the attempt settles, so before the request goes on to another target or gets its
   * reply; at once if it has settled. `next` resolves later.
   */
  onSettled(listener: (record: AttemptRecord) => void): void
  /** Lets a stream of the target go on for so many tokens of output, and asks before it goes on for more. Call it before `next`. */
  allowOutput(allowance: OutputAllowance): void
  /**
   * Calls `check` before each further call that belongs to the attempt, such as that of the request after the summary that it needs, with what
   * the calls before have used. A rejection ends the request with its error.
   */
  beforeFollowUp(check: (spending: Spending | undefined) => Promise<void>): void
}

/** How far a stream may go. What it has had is estimated by its text, as providers report tokens only at the end. */
export interface OutputAllowance {
  /** The tokens of output that it may have without asking, of all its answers together. */
  readonly tokens: number
  /**
   * Called when the stream is about to have more, with the tokens that it has then; nothing more reaches the client until this resolves, to
   * the tokens that it may have then in all. A rejection ends the stream with its error, as an error event of the client's format.
   */
  extend(tokens: number): Promise<number>
}

/**
 * Says of each target of a request whether the request may use it, before anything else is done about the target: the error for a client that
 * may use none of them, `undefined` where it may. A step around the request sets it in the log of the request.
 */
export type TargetRule = (request: ModelRequest, target: RouteTarget, route: Route) => GatewayError | undefined

/** The same of each name in a list that the request brings, before any of its targets is looked at. */
export type NameRule = (name: string, table: RouteTable) => GatewayError | undefined

/**
 * A step around an attempt. `next` makes the attempt, and resolves when that has settled: after the last byte of its answer, streams
 * included, or after its failure. It never rejects. A step that throws a `GatewayError` in place of calling `next` refuses the target, which
 * is then passed over, and the steps around it get a record with the outcome `refused`; if no other target is called, the client reads
 * the error.
 */
export type AttemptStep = (attempt: SteppedAttempt, next: () => Promise<AttemptRecord>) => Promise<unknown>

/** Puts steps around what serves a request, the first outermost. */
export const withSteps = <R>(
  steps: ReadonlyArray<(request: R, next: () => Promise<Reply>) => Promise<Reply>>,
  serve: (request: R) => Promise<Reply>,
): ((request: R) => Promise<Reply>) =>
  steps.reduceRight<(request: R) => Promise<Reply>>(
    (next, step) => (request) => step(request, () => next(request)),
    serve,
  )

/** How an attempt within steps is made. */
interface SteppedWork {
  /** Makes the attempt; resolves when it has settled. Never rejects. */
  make(): Promise<AttemptRecord>
  /** A step has refused the target, or the request, with this error. Returns the record of the attempt, which is not made. */
  refuse(error: GatewayError): AttemptRecord
  /** A step has failed by itself. */
  onError(error: unknown): void
}

/** Makes an attempt within the steps around it, the first outermost. Never rejects. */
export async function attemptWithin(
  steps: readonly AttemptStep[],
  attempt: SteppedAttempt,
  { make, refuse, onError }: SteppedWork,
): Promise<void> {
  let settling: Promise<AttemptRecord> | undefined

  /** Resolves when the attempt has settled and the steps from this one on have returned. */
  async function from(at: number): Promise<AttemptRecord> {
    const step = steps[at]
    try {
      if (step) await step(attempt, () => from(at + 1))
    } catch (thrown) {
      if (settling || !isGatewayError(thrown)) onError(thrown)
      settling ??= Promise.resolve(refuse(toGatewayError(thrown)))
    }
    settling ??= make()
    return settling
  }

  await from(0)
}
