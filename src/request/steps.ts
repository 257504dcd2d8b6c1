import type { GatewayError } from '../errors.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Spending } from '../pricing/cost.ts'
import type { Surcharge } from '../pricing/surcharge-fields.ts'
import type { Endpoint } from '../protocols/formats/format.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { CallRequest } from './call-steps.ts'
import type { Codec, CodecRequest } from './codec/codec.ts'
import type { AttemptRecord } from './hook-records.ts'
import type { ModelLog } from './model-log.ts'
import type { ModelRequest } from './model-request.ts'
import type { RouteRequest } from './route-request.ts'
import type { Group, Route, RouteTarget } from './routing/group.ts'
import type { RouteTable } from './routing/route-table.ts'

/** A request to a model endpoint. Its endpoint and caller are known, and nothing else has been read. */
export interface ServedRequest extends Pick<RouteRequest, 'exchange' | 'caller'> {
  readonly route: Endpoint
  /** The model name, if it is in the path. */
  readonly pathModel?: string | undefined
  readonly log: ModelLog
}

/**
 * A step around a request to a recorded route, after its key is checked and before its body is read. To reject the request, it throws a
 * `GatewayError` of any status, which the client gets in its own format. Otherwise, it replies itself, or calls `next` and may add headers to the
 * reply. For a stream, `next` resolves when the stream begins. If a step waits before `next`, it must wait in `request.log.client.scope.race`, which
 * ends when the client disconnects or the timeout expires.
 */
export type RequestStep = (request: RouteRequest, next: () => Promise<Reply>) => Promise<Reply>

/**
 * A step around a model call, after its body has been read and before a target is chosen. It throws a `GatewayError` to reject the request, replies
 * itself with a complete reply or a stream, or calls `next`, with another call to change the request. It runs once per request, regardless of the
 * number of attempts.
 */
export type CallStep = (call: CallRequest, next: (changed?: CallChange) => Promise<Reply>) => Promise<Reply>

/** A step's changes to a model call. */
export interface CallChange {
  /** The name of another model, alias, or combo. */
  model?: string
  /** The body, as JSON. */
  body?: JsonObject
  /** The models to use instead of those that the model name resolves to. */
  list?: Group
  /** The text of the body, in place of `body`. It reaches the provider with all other characters unchanged. */
  text?: string
}

/** An attempt as seen by the steps around it. */
export interface AttemptControls {
  readonly request: ModelRequest
  readonly target: RouteTarget
  /**
   * Limits the target's response to this many tokens. Call it before `next`. `x-signalbox-warning` reports the limit, unless the request's own limit
   * is lower.
   */
  limitOutput(tokens: number): void
  /** Skips this target with an error message. Call it before `next`. */
  reject(message: string, options?: { status?: number }): never
  /** Rejects the entire request, not just this target: no other target is tried, and the client gets the error. Call it before `next`. */
  failRequest(error: GatewayError): never
  /** Like `failRequest`, with a new error that has this message. */
  rejectRequest(message: string, options?: { status?: number }): never
  /**
   * Calls `listener` with the record as soon as the attempt settles, before the gateway tries another target or replies. If the attempt has
   * already settled, calls it immediately. `next` resolves later.
   */
  onSettled(listener: (record: AttemptRecord) => void): void
  /** Calls `check` when the request is written for the target, before its provider is called. If it throws a `GatewayError`, the target is rejected. */
  beforeCall(check: (call: EncodedCall) => void): void
  /** Allows the target's stream this many output tokens, and calls `extend` before sending more. Only one step can call it, and before `next`. */
  allowOutput(allowance: OutputAllowance): void
  /**
   * Calls `check` before each further call that belongs to the attempt, such as the actual request after a summary, with the earlier calls' usage. If
   * `check` rejects, the request fails with that error.
   */
  beforeFollowUp(check: (spending: Spending | undefined) => Promise<void>): void
}

/** A request as written for its target. */
export interface EncodedCall {
  /** Returns the field that requests a tier at a higher price than the model's, other than `pricedTier`, or `undefined` if there is none. */
  findSurcharge(pricedTier?: string): Surcharge | undefined
}

/** A stream's output allowance. Usage so far is estimated from the text, because providers report tokens only at the end. */
export interface OutputAllowance {
  /** Output tokens allowed before `extend` must be called, across all choices of the response. */
  readonly tokens: number
  /**
   * Called before the stream exceeds its allowance, with the total that it would reach. Output is held until this resolves to the new total
   * allowance. If this rejects, the stream ends with that error, as an error event in the client's format.
   */
  extend(tokens: number): Promise<number>
}

/**
 * Checks each target before anything else happens to it. Returns `undefined` if the request may use the target; otherwise, the error that the
 * client gets if no target is allowed. A step around the request adds the rule to the request log.
 */
export type TargetRule = (
  request: Pick<ModelRequest, 'call' | 'list'>,
  target: RouteTarget,
  route: Route,
) => GatewayError | undefined

/**
 * Checks each name in the request's model list before any target is checked, and the model of a reply that a step created. Returns `undefined` if the
 * name may be used; otherwise, returns the error.
 */
export type NameRule = (name: string, table: RouteTable) => GatewayError | undefined

/**
 * Explains why a key's limits and rules would reject a request at a target, without sending it. `rejectsRequest` means that they reject every target.
 */
export type RejectionPreview = (
  request: Pick<ModelRequest, 'call' | 'context'>,
  target: RouteTarget,
) => Promise<{ error: GatewayError; rejectsRequest: boolean; advice?: string } | undefined>

/**
 * A step around an attempt. If it returns without calling `next`, the attempt is still made. `next` makes the attempt, and resolves when the attempt settles: after the last byte of its response,
 * streams included, or when it fails. It never rejects. To skip the target, throw a `GatewayError` instead of calling `next`. The outer steps
 * then get a record with the outcome `refused`. If no other target is called, the client gets the error.
 */
export type AttemptStep = (attempt: AttemptControls, next: () => Promise<AttemptRecord>) => Promise<unknown>

/** Checks a model request's headers before its body is read. Throws a `GatewayError` to reject it. */
export type HeaderCheck = (exchange: Pick<Exchange, 'header'>) => void

/** An attempt with a request that is about to be written. */
export interface EncodeControls {
  readonly request: ModelRequest
  readonly route: Route
  readonly log: Pick<AttemptLog, 'isHedge' | 'extendRecord'>
}

/** Writes a request for an attempt's target. */
export type Encode = (request: CodecRequest) => Promise<Codec>

/** A step around writing a request for a target. It may call `encode` with a changed request, change the result, and call `encode` again. */
export type EncodeStep = (attempt: EncodeControls, encode: Encode) => Promise<Codec>

/** A request's routes, in the order in which to try them. */
export type RouteIterator = AsyncIterator<Route, undefined> | Iterator<Route, undefined>

/** Changes the order in which to try a request's routes. */
export type RouteOrder = (request: ModelRequest, routes: RouteIterator) => RouteIterator

/** A feature's steps around model calls and attempts. */
export interface PipelineSteps {
  checkHeaders?: HeaderCheck | undefined
  aroundCall?: CallStep | undefined
  /**
   * Returns whether `aroundCall` applies to a request. By default, it applies to all. A request without such steps doesn't load the code that runs
   * them.
   */
  appliesToCall?(request: ModelRequest): boolean
  orderRoutes?: RouteOrder | undefined
  aroundAttempt?: AttemptStep | undefined
  aroundEncode?: EncodeStep | undefined
}

/** A step around calls, and a check for which requests it applies to. */
export interface SelectiveCallStep {
  readonly run: CallStep
  appliesTo(request: ModelRequest): boolean
}

/** Wraps steps around the encoding of a request, with the first step outermost. */
export const encodeWithin = (steps: readonly EncodeStep[], attempt: EncodeControls, encode: Encode): Promise<Codec> =>
  steps.reduceRight<Encode>(
    (next, step) => (request) =>
      step(
        request === attempt.request ? attempt : { ...attempt, request: Object.assign({}, attempt.request, request) },
        next,
      ),
    encode,
  )(attempt.request)

/** Runs steps around a handler, with the first step outermost. */
export const runSteps = <R>(
  steps: ReadonlyArray<(request: R, next: () => Promise<Reply>) => Promise<Reply>>,
  serve: (request: R) => Promise<Reply>,
): ((request: R) => Promise<Reply>) =>
  steps.reduceRight<(request: R) => Promise<Reply>>(
    (next, step) => (request) => step(request, () => next(request)),
    serve,
  )
