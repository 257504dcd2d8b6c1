import { startDeadline } from '../lib/deadline.ts'
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
  return delayMs === undefined ? first.result : hedged(request, { first, plan, delayMs })
}

async function hedged(
  request: ModelRequest,
  { first, plan, delayMs }: { first: Try; plan: AttemptPlan; delayMs: number },
): Promise<Success | FailedTry | undefined> {
  if (!(await isSlower(request, first, delayMs))) return await first.result
  const { tryBeside } = await import('./hedge.ts')
  return await tryBeside(request, first, plan)
}

function delayOf({ call, context }: ModelRequest, { target, via }: Route): number | undefined {
  for (let choice = via; choice; choice = choice.before)
    if (choice.group.hedge) return context.targetStats.p95Of(target, call.stream)
  return undefined
}

/** Resolves to whether the attempt has neither answered nor failed after `ms`. */
function isSlower({ context }: ModelRequest, { result }: Try, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const deadline = startDeadline(context.clock, ms, () => resolve(true))
    const onTime = () => {
      deadline.cancel()
      resolve(false)
    }
    result.then(onTime, onTime)
  })
}
