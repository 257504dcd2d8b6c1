import type { Awaitable } from '../lib/awaitable.ts'
import { targetName } from '../providers/target.ts'
import type { Route } from '../routing/group.ts'
import type { Standing, Trial } from '../routing/health.ts'
import { pause, soonestAgain } from './again.ts'
import type { FailedTarget } from './attempt-plan.ts'
import type { ModelRequest } from './model-request.ts'
import { stillCooling } from './still-cooling.ts'
import type { Candidate } from './try.ts'

/** What it needs of the attempt plan. */
export interface LastCandidateDependencies extends Pick<ModelRequest, 'context' | 'client'> {
  candidateOf(route: Route, trial: Trial): Awaitable<Candidate | undefined>
}

/** The candidate of an unhealthy target when it is this request's turn to try it; otherwise the target's standing. */
async function candidateInTurn(
  { target, ...route }: Route,
  { context, client, candidateOf }: LastCandidateDependencies,
): Promise<Candidate | Standing | undefined> {
  const left = new Promise<unknown>((leave) => client.follows({ cancel: leave }))
  const turn = await context.health.turn(target, left)
  if (client.gone) {
    if ('dropped' in turn) turn.dropped()
    throw client.gone
  }
  return 'dropped' in turn ? candidateOf({ target, ...route }, turn) : turn
}

/** When all targets are cooling: the candidate that recovers first, or the failure that another request has just had there. */
export async function lastCandidate(
  route: Route,
  dependencies: LastCandidateDependencies,
): Promise<{ candidate?: Candidate | undefined; failed?: FailedTarget }> {
  const found = await candidateInTurn(route, dependencies)
  if (!found || 'trial' in found) return { candidate: found }
  const failure = stillCooling(targetName(route.target), found, dependencies.context.clock.now())
  return { failed: { kind: 'failure', failure, route } }
}

/** What a repeated attempt depends on besides. */
export interface AgainOptions {
  /** How many times the request has tried a target again. */
  times: number
  /** Takes one attempt out of the retry budget; `false` when it is used up. */
  mayRetry(): boolean
}

/**
 * When no other target is left: one that was tried before, if a retry may help and no other request has found out meanwhile that it does
 * not.
 */
export async function candidateAgain(
  failed: readonly FailedTarget[],
  dependencies: LastCandidateDependencies,
  { times, mayRetry }: AgainOptions,
): Promise<{ candidate: Candidate; repeated: FailedTarget } | undefined> {
  const { context, client } = dependencies
  const again = soonestAgain(failed, { ...context, client, times })
  if (!again || !mayRetry()) return undefined
  const { fault: repeated, waitMs } = again
  if (waitMs > 0) await pause(waitMs, { client, clock: context.clock })
  const found = await candidateInTurn(repeated.route, dependencies)
  return found && 'trial' in found ? { candidate: found, repeated } : undefined
}
