import type { Operation } from '../../protocols/formats/model-operations.ts'
import type { Clock } from '../../types.ts'
import type { ModelRequest } from '../model-request.ts'
import type { FailedAttempt, RejectedAttempt } from '../outcome.ts'
import type { HedgeBudget } from '../routing/budget.ts'
import type { Route } from '../routing/group.ts'
import type { Attempt } from './attempt.ts'

/** A second attempt that runs in parallel with a slow one. */
export interface Hedge extends HedgeSettings {
  /** The delay after the call to the first provider, in ms. */
  delayMs: number
  clock: Clock
  budget: HedgeBudget
  /** Whether a failure ends the request. */
  isFinalFailure: Operation['isFinal']
  /** Called if the gateway fails to prepare the second attempt. */
  onError(error: unknown): void
}

/** Creates the second attempt, and records an outcome without a response while the other attempt continues. */
export interface HedgeSettings {
  /** Returns an attempt at another target, ready to be made, or `undefined` if there is none. */
  next(): Promise<Attempt | undefined>
  recordOutcome(outcome: FailedAttempt | RejectedAttempt): Promise<void>
}

/**
 * Returns an attempt's hedge on this route. It starts if there is no response within the target's 95th-percentile response time. Returns `undefined`
 * if no combo on the route hedges, or if the target's speed is unknown.
 */
export function createHedge(
  { call, context, client }: ModelRequest,
  route: Route,
  options: HedgeSettings,
): Hedge | undefined {
  if (call.endpoint.operation.isPaidOnAcceptance) return undefined // the provider would charge for both attempts
  for (let choice = route.via; choice; choice = choice.parent) {
    if (!choice.group.hedge) continue
    const { targetStats, clock, hedgeBudget: budget } = context
    const delayMs = targetStats.getP95(route.target, call.stream)
    if (delayMs === undefined) return undefined
    const onError = (error: unknown) => {
      if (!client.goneReason) context.onError(error)
    }
    return { ...options, delayMs, clock, budget, isFinalFailure: call.endpoint.operation.isFinal, onError }
  }
  return undefined
}
