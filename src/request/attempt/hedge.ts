import type { Operation } from '../../protocols/formats/model-operations.ts'
import type { Clock } from '../../types.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Failed, RefusedTarget } from '../outcome.ts'
import type { HedgeBudget } from '../routing/budget.ts'
import type { Route } from '../routing/group.ts'
import type { Attempt } from './attempt.ts'

/** A second attempt beside one that is slow. */
export interface Hedge extends HedgeTerms {
  /** In ms, from the call of the first provider. */
  delayMs: number
  clock: Clock
  budget: HedgeBudget
  /** Does such a failure end the request? */
  endsAt: Operation['endsAt']
  /** The gateway has failed to prepare the second attempt. */
  onError(error: unknown): void
}

/** How the second attempt is made, and the receiver of an outcome without an answer while the other attempt goes on. */
interface HedgeTerms {
  /** The attempt at another target, ready to be made; `undefined` where there is none. */
  next(): Promise<Attempt | undefined>
  note(outcome: Failed | RefusedTarget): void
}

/**
 * The hedge of an attempt on this route, which begins when there is no answer within the time of 95 % of the target's answers; `undefined` if
 * no combo on the route hedges, or the target's speed is unknown.
 */
export function createHedge(
  { call, context, client }: ModelRequest,
  route: Route,
  terms: HedgeTerms,
): Hedge | undefined {
  if (call.endpoint.operation.isPaidOnAcceptance) return undefined // both would be charged for
  for (let step = route.via; step; step = step.before) {
    if (!step.group.hedge) continue
    const { targetStats, clock, hedgeBudget: budget } = context
    const delayMs = targetStats.getP95(route.target, call.stream)
    if (delayMs === undefined) return undefined
    const onError = (error: unknown) => {
      if (!client.gone) context.onError(error)
    }
    return { ...terms, delayMs, clock, budget, endsAt: call.endpoint.operation.endsAt, onError }
  }
  return undefined
}
