import type { Awaitable } from '../lib/awaitable.ts'
import { targetName } from '../providers/target.ts'
import type { Route } from '../routing/group.ts'
import type { Standing, Trial } from '../routing/health.ts'
import { pause, soonestAgain } from './again.ts'
import type { FailedTarget } from './itinerary.ts'
import type { ModelRequest } from './model-request.ts'
import { stillCooling } from './still-cooling.ts'
import type { Leg } from './try.ts'

/** What the itinerary lends. */
export interface LastLegDependencies extends Pick<ModelRequest, 'context' | 'client'> {
  legOf(route: Route, trial: Trial): Awaitable<Leg | undefined>
}

/** The way to a target that is not well, when it is this request's turn to try it; else how it stands. */
async function legInTurn(
  { target, ...route }: Route,
  { context, client, legOf }: LastLegDependencies,
): Promise<Leg | Standing | undefined> {
  const left = new Promise<unknown>((leave) => client.follows({ cancel: leave }))
  const turn = await context.health.turn(target, left)
  if (client.gone) {
    if ('dropped' in turn) turn.dropped()
    throw client.gone
  }
  return 'dropped' in turn ? legOf({ target, ...route }, turn) : turn
}

/** Where all targets are cooling: the way to the one that recovers first, or what others have just met with there. */
export async function lastLeg(
  route: Route,
  dependencies: LastLegDependencies,
): Promise<{ leg?: Leg | undefined; failed?: FailedTarget }> {
  const found = await legInTurn(route, dependencies)
  if (!found || 'trial' in found) return { leg: found }
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
export async function legAgain(
  failed: readonly FailedTarget[],
  dependencies: LastLegDependencies,
  { times, mayRetry }: AgainOptions,
): Promise<{ leg: Leg; repeated: FailedTarget } | undefined> {
  const { context, client } = dependencies
  const again = soonestAgain(failed, { ...context, client, times })
  if (!again || !mayRetry()) return undefined
  const { fault: repeated, waitMs } = again
  if (waitMs > 0) await pause(waitMs, { client, clock: context.clock })
  const found = await legInTurn(repeated.route, dependencies)
  return found && 'trial' in found ? { leg: found, repeated } : undefined
}
