import type { Route } from '../routing/group.ts'
import type { AttemptPlan } from './attempt-plan.ts'
import type { Candidate } from './candidate.ts'
import type { ModelRequest } from './model-request.ts'
import { type FailedTry, type Success, type Try, tryCandidate } from './try.ts'

/**
 * Tries a target and, where its combo hedges, the next one beside it when there is no answer within the time of 95 % of its answers.
 * A failure is the caller's to note; `undefined`: two were tried, and both are noted.
 */
export function tryFrom(
  request: ModelRequest,
  candidate: Candidate,
  plan: AttemptPlan,
): Promise<Success | FailedTry | undefined> {
  const delayMs = delayOf(request, candidate.route)
  const first = tryCandidate(request, candidate)
  request.client.follows(first)
  return delayMs === undefined ? first.result : hedged(request, first, plan, delayMs)
}

async function hedged(
  request: ModelRequest,
  first: Try,
  plan: AttemptPlan,
  delayMs: number,
): Promise<Success | FailedTry | undefined> {
  first.result.catch(() => {}) // it may reject before anybody waits for it
  const { tryHedged } = await import('./hedge.ts')
  return tryHedged(request, first, plan, delayMs)
}

function delayOf({ call, context }: ModelRequest, { target, via }: Route): number | undefined {
  for (let choice = via; choice; choice = choice.before)
    if (choice.group.hedge) return context.targetStats.p95Of(target, call.stream)
  return undefined
}
