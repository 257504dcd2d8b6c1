import type { Awaitable } from '../lib/awaitable.ts'
import { targetName } from '../providers/target.ts'
import type { Route } from '../routing/group.ts'
import type { Standing, Trial } from '../routing/health.ts'
import { pause, soonestAgain } from './again.ts'
import type { FailedTarget } from './attempt-plan.ts'
import type { ModelRequest } from './model-request.ts'
import { stillCooling } from './still-cooling.ts'
import type { Candidate } from './try.ts'

/** What the plan of attempts lends. */
export interface LastCandidateDependencies extends Pick<ModelRequest, 'context' | 'client'> {
  candidateOf(route: Route, trial: Trial): Awaitable<Candidate | undefined>
}

/** The way to a target that is not well, when it is this request's turn to try it; else how it stands. */
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

/** Where all targets are cooling: the way to the one that recovers first, or what others have just met with there. */
export async function lastCandidate(
  route: Route,
  dependencies: LastCandidateDependencies,
): Promise<{ candidate?: Candidate | undefined; failed?: FailedTarget }> {
  const found = await candidateInTurn(route, dependencies)
  if (!found || 'trial' in found) return { candidate: found }
  const failure = stillCooling(targetName(route.target), found, dependencies.context.clock.now())
  return { failed: { kind: 'failure', failure, route } }
}

/** What else counts when a target is tried again. */
export interface AgainOptions {
  /** So many times the request has tried a target again already. */
  times: number
  /** Takes the attempt out of the budget. */
  mayRetry(): boolean
}

/** Where no other target is left: the way to one that was tried, if that may help and others have not found out meanwhile that it does not. */
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
