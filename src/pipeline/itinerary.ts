import { type GatewayError, isGatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { contextWindowOf } from '../providers/catalog-model.ts'
import { targetName } from '../providers/target.ts'
import type { NextRoute } from '../routing/follow.ts'
import type { Route } from '../routing/group.ts'
import type { FailedAttempt } from './attempt.ts'
import { unreadableCredential } from './failure.ts'
import type { Stop } from './final.ts'
import type { ModelRequest } from './model-request.ts'
import { passageTo } from './passage-to.ts'
import type { Leg } from './try.ts'

/** Which target comes next, after what has become of those before. */
export interface Itinerary {
  /**
   * The next target that may be tried; `undefined` when there is none, the client is at fault, or attempts or retries are used up.
   * Targets that are cooling are passed over; when all are, the one that recovers first comes rather than none, for one request at a time.
   * A hedge stays off them and takes nothing out of the retry budget.
   */
  next(options?: { hedge?: boolean }): Promise<Leg | undefined>
  failed(route: Route, result: FailedAttempt): void
  readonly failures: readonly FailedAttempt[]
  /** Why there is no next one: attempts or retries were used up, or the first target that cannot be told what the client asks;
   * and when the first of those that are cooling recovers. */
  verdict(): { stop: Stop | undefined; refusal: GatewayError | undefined; dueAt: number | undefined }
}

/** What is here is not waited for: most requests have one route, and nothing to translate. */
export function createItinerary(nextRoute: NextRoute, request: ModelRequest): Itinerary {
  const { context, report, client } = request
  const { health, limits, retryBudget, catalog, clock } = context
  const failures: FailedAttempt[] = []
  let tries = 0
  let soonest: { route: Route; dueAt: number } | undefined
  let window: number | undefined // what the request did not fit into; without end when that is not known
  let stop: Stop | undefined
  let refusal: GatewayError | undefined
  const spares: Route[] = [] // more of whose keys were refused
  let refuser: string | undefined // the provider that has refused our key in each attempt so far
  let isOver = false
  let isLast = false // one that is cooling was tried for want of another

  /** Is it cooling, or too small for the request? */
  function isPassedOver(route: Route): boolean {
    const standing = health.standingOf(route.target)
    const isSmall = window !== undefined && (contextWindowOf(catalog, route.target) ?? 0) <= window
    if (standing && (!soonest || standing.dueAt < soonest.dueAt)) soonest = { route, dueAt: standing.dueAt }
    if (standing) report.skipped(route, standing.class)
    else if (isSmall) report.skipped(route, 'context-overflow')
    return standing !== undefined || isSmall
  }

  /**
   * The way to a target, unless its format cannot say what the client asks. The trial begins at once, before any other request can choose:
   * all of a burst would probe it otherwise.
   */
  function legOf(route: Route, trial = health.begin(route.target)): Awaitable<Leg | undefined> {
    function failed(thrown: unknown): undefined {
      trial.dropped()
      if (!isGatewayError(thrown, 'INVALID_REQUEST') && !isGatewayError(thrown, 'FORMAT_MISMATCH')) throw thrown
      refusal ??= thrown
      report.skipped(route, 'format')
    }

    try {
      const passage = passageTo(request, route.target)
      if (!isPromise(passage)) return { route, passage, trial }
      return passage.then((found) => ({ route, passage: found, trial }), failed)
    } catch (thrown) {
      return failed(thrown)
    }
  }

  /** The way to a target that is not well, when it is this request's turn to try it. */
  async function lastLeg(route: Route): Promise<Leg | undefined> {
    const left = new Promise<unknown>((leave) => client.follows({ cancel: leave }))
    const turn = await health.turn(route.target, left)
    if (client.gone) {
      if ('dropped' in turn) turn.dropped()
      throw client.gone
    }
    if ('dropped' in turn) return legOf(route, turn)
    const { stillCooling } = await import('./still-cooling.ts')
    failures.push({ kind: 'failure', failure: stillCooling(targetName(route.target), turn, clock.now()) })
    return undefined
  }

  /** The last attempt is kept for another provider, if there is one, where all before have gone to keys that one has refused. */
  async function nextLeg(): Promise<Leg | undefined> {
    const isKept = tries > 0 && tries === limits.maxAttempts - 1
    for (;;) {
      const next = nextRoute()
      const route = isPromise(next) ? await client.unlessGone(next) : next
      const spare = route ? undefined : spares.shift()
      if (!route) return spare && legOf(spare)
      if (isPassedOver(route)) continue
      if (isKept && route.target.provider === refuser) {
        spares.push(route)
        continue
      }
      const leg = legOf(route)
      const found = isPromise(leg) ? await leg : leg
      if (!found) continue
      for (const spare of spares.splice(0)) report.skipped(spare, 'credentials')
      return found
    }
  }

  return {
    failures,
    verdict: () => ({ stop, refusal, dueAt: soonest && health.standingOf(soonest.route.target)?.dueAt }),
    async next({ hedge = false } = {}) {
      if (isOver || stop) return undefined
      if (tries >= limits.maxAttempts) {
        if (!hedge && (spares.length > 0 || (await nextRoute()))) stop = 'max-attempts'
        return undefined
      }
      let leg = await nextLeg()
      if (!leg && tries === 0 && !hedge && soonest && !isLast) {
        isLast = true
        leg = await lastLeg(soonest.route)
      }
      if (leg && !hedge && tries > 0 && !retryBudget.spend()) stop = 'retry-budget'
      if (stop) leg?.trial.dropped()
      if (!leg || stop) return undefined
      tries += 1
      return leg
    },
    failed({ target }, result) {
      failures.push(result)
      const { class: failureClass } = result.failure
      const isRefused = failureClass === 'credentials' && (failures.length === 1 || refuser === target.provider)
      refuser = isRefused ? target.provider : undefined
      if (result.failure === unreadableCredential) tries -= 1 // nobody was called
      if (failureClass === 'client') isOver = true
      if (failureClass === 'context-overflow') window = contextWindowOf(catalog, target) ?? Number.POSITIVE_INFINITY
    },
  }
}
