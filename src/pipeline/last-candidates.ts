import { targetName } from '../providers/target.ts'
import type { Route } from '../routing/group.ts'
import type { Standing } from '../routing/health.ts'
import { pause, soonestAgain } from './again.ts'
import { type Candidate, candidateOf } from './candidate.ts'
import { isAmong, isTooSmall, type Progress } from './progress.ts'
import { stillCooling } from './still-cooling.ts'

/**
 * When no other target is left: of those that are cooling and not yet tried, the candidate that recovers first, but none whose cooldown is
 * firm. `undefined` when there is none whose format can carry the request.
 */
export async function coolingCandidate(progress: Progress): Promise<Candidate | undefined> {
  const { request, cooling } = progress
  for (const one of [...cooling]) {
    const { target } = one.route
    const { isFirm = false } = request.context.health.standingOf(target) ?? {}
    if (isFirm || isAmong(progress.tried, target) || isTooSmall(target, progress)) continue
    const candidate = await candidateOf(one.route, progress)
    if (candidate) return candidate
    cooling.splice(cooling.indexOf(one), 1) // to wait for it would be of no use
  }
  return undefined
}

/**
 * When all cooldowns are firm: of the targets whose format can carry the request, the candidate that recovers first. `undefined` when there
 * is none, or when another request has just failed there in a way that this one would meet, too.
 */
export async function lastCandidate(progress: Progress): Promise<Candidate | undefined> {
  const { request, failures, cooling } = progress
  for (let first = cooling[0]; first; first = cooling[0]) {
    const { route } = first
    const found = await candidateInTurn(route, progress)
    if (found && 'trial' in found) return found
    if (found) {
      const failure = stillCooling(targetName(route.target), found, request.context.clock.now())
      failures.push({ kind: 'failure', failure, route })
      return undefined
    }
    cooling.shift() // to wait for it would be of no use
  }
  return undefined
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
  progress: Progress,
  { times, mayRetry }: AgainOptions,
): Promise<Candidate | undefined> {
  const { context, client } = progress.request
  const again = soonestAgain(progress.failures, { ...context, client, times })
  if (!again || !mayRetry()) return undefined
  const { fault, waitMs } = again
  if (waitMs > 0) await pause(waitMs, { client, clock: context.clock })
  const found = await candidateInTurn(fault.route, progress)
  return found && 'trial' in found ? found : undefined
}

/** The candidate of an unhealthy target when it is this request's turn to try it; otherwise the target's standing. */
async function candidateInTurn(route: Route, progress: Progress): Promise<Candidate | Standing | undefined> {
  const { context, client } = progress.request
  const left = new Promise<unknown>((leave) => client.follows({ cancel: leave }))
  const turn = await context.health.turn(route.target, left)
  if (client.gone) {
    if ('dropped' in turn) turn.dropped()
    throw client.gone
  }
  return 'dropped' in turn ? candidateOf(route, progress, turn) : turn
}
