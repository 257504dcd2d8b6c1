import { type GatewayError, isGatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import { contextWindowOf } from '../providers/catalog-model.ts'
import type { NextRoute } from '../routing/follow.ts'
import type { Route, RouteTarget } from '../routing/group.ts'
import { unreadableCredential } from './failure.ts'
import type { ModelRequest } from './model-request.ts'
import { transformFor } from './transform-for.ts'
import type { Candidate, FailedTry } from './try.ts'

/** Which target to try next, given the outcomes so far. */
export interface AttemptPlan {
  /**
   * The next candidate; `undefined` when there is none, the client is at fault, or the attempts or the retry budget are used up. Cooling
   * targets are skipped; when all are cooling, the one that recovers first is used, by one request at a time. A hedge never uses a cooling
   * target, and does not count against the retry budget.
   */
  next(options?: { hedge?: boolean }): Promise<Candidate | undefined>
  failed(route: Route, result: FailedTry): void
  /** The last failure of each target that was tried. */
  readonly failures: readonly FailedTarget[]
  /**
   * Why there is no next candidate: `stop` when attempts or retries were used up, and `untried`, the first route that no attempt was left
   * for; `refusal`, the first target whose format cannot carry the request; `dueAt`, when the first cooling target recovers (epoch ms).
   */
  verdict(): Verdict
}

/** Why no other target was tried though there was one. */
export type Stop = 'max-attempts' | 'retry-budget'

/** See `AttemptPlan`. */
export interface Verdict {
  stop: Stop | undefined
  untried: Route | undefined
  refusal: GatewayError | undefined
  dueAt: number | undefined
}

/** The failure of a target that was tried. */
export interface FailedTarget extends FailedTry {
  route: Route
}

/** Avoids promises where the result is there already: most requests have one route, and need no translation. */
export function createAttemptPlan(nextRoute: NextRoute, request: ModelRequest): AttemptPlan {
  const { context, report, client } = request
  const { health, limits, retryBudget, catalog } = context
  const failures: FailedTarget[] = []
  const tried: RouteTarget[] = []
  let repeated: FailedTarget | undefined // is being tried again
  let repeats = 0
  let tries = 0
  let soonest: { route: Route; dueAt: number } | undefined
  let window: number | undefined // what the request did not fit into, by the catalog, else as the provider said; without end when neither tells
  let stop: Stop | undefined
  let untried: Route | undefined
  let refusal: GatewayError | undefined
  const spares: Route[] = [] // passed over to keep the last attempt for another
  let isOver = false
  let isLast = false // one that is cooling was tried for want of another

  /** Was it tried already, is it cooling, or is its context window too small for the request? */
  function isPassedOver(route: Route): boolean {
    const { target } = route
    if (isAmong(tried, target)) {
      const failed = failures.find(({ route: one }) => isSame(one.target, target))
      if (failed) report.skipped(route, failed.failure.class)
      return true
    }
    const standing = health.standingOf(route.target)
    const isSmall = window !== undefined && (contextWindowOf(catalog, route.target) ?? 0) <= window
    if (standing && (!soonest || standing.dueAt < soonest.dueAt)) soonest = { route, dueAt: standing.dueAt }
    if (standing) report.skipped(route, standing.class)
    else if (isSmall) report.skipped(route, 'context-overflow')
    return standing !== undefined || isSmall
  }

  /**
   * The candidate of a route; `undefined` when the target's format cannot carry the request. The trial begins at once, or every request of
   * a burst would probe the same cooling target.
   */
  function candidateOf(route: Route, trial = health.begin(route.target)): Awaitable<Candidate | undefined> {
    function failed(thrown: unknown): undefined {
      trial.dropped()
      if (!isGatewayError(thrown, 'INVALID_REQUEST') && !isGatewayError(thrown, 'FORMAT_MISMATCH')) throw thrown
      refusal ??= thrown
      report.skipped(route, 'format')
    }

    try {
      const transform = transformFor(request, route.target)
      if (!isPromise(transform)) return { route, transform, trial }
      return transform.then((found) => ({ route, transform: found, trial }), failed)
    } catch (thrown) {
      return failed(thrown)
    }
  }

  /** When no other target is left: one that was tried before, or, when none was, one that is cooling. */
  async function oneMore(): Promise<Candidate | undefined> {
    const { lastCandidate, candidateAgain } = await import('./last-candidates.ts')
    const lent = { context, client, candidateOf }
    if (tries > 0) {
      const again = await candidateAgain(failures, lent, { times: repeats++, mayRetry })
      repeated = again?.repeated
      return again?.candidate
    }
    isLast = true
    const last = soonest && (await lastCandidate(soonest.route, lent))
    if (last?.failed) failures.push(last.failed)
    return last?.candidate
  }

  function mayRetry(): boolean {
    if (!retryBudget.spend()) stop = 'retry-budget'
    return !stop
  }

  /** Keeps the last attempt for a target that is not more of the same, if there is one. */
  async function nextCandidate(): Promise<Candidate | undefined> {
    const isLastAttempt = tries > 0 && tries === limits.maxAttempts - 1
    for (;;) {
      const next = nextRoute()
      const route = isPromise(next) ? await client.unlessGone(next) : next
      const spare = route ? undefined : spares.shift()
      if (!route) return spare && candidateOf(spare)
      if (isPassedOver(route)) continue
      if (isLastAttempt && isMoreOfTheSame(route.target, failures)) {
        spares.push(route)
        continue
      }
      const candidate = candidateOf(route)
      const found = isPromise(candidate) ? await candidate : candidate
      if (!found) continue
      for (const spare of spares.splice(0)) report.skipped(spare, failures.at(-1)?.failure.class ?? 'credentials')
      return found
    }
  }

  return {
    failures,
    verdict: () => ({ stop, untried, refusal, dueAt: soonest && health.standingOf(soonest.route.target)?.dueAt }),
    async next({ hedge = false } = {}) {
      if (isOver || stop) return undefined
      if (tries >= limits.maxAttempts) {
        if (hedge) return undefined
        do untried = spares.shift() ?? (await nextRoute())
        while (untried && isAmong(tried, untried.target))
        if (untried) stop = 'max-attempts'
        return undefined
      }
      let candidate = await nextCandidate()
      if (candidate && !hedge && tries > 0 && !mayRetry()) {
        candidate.trial.dropped()
        return undefined
      }
      if (!candidate && !hedge && !isLast && (tries > 0 || soonest)) candidate = await oneMore()
      if (!candidate) return undefined
      tries += 1
      tried.push(candidate.route.target)
      return candidate
    },
    failed(route, result) {
      const { target } = route
      if (repeated) failures.splice(failures.indexOf(repeated), 1)
      repeated = undefined
      failures.push({ ...result, route })
      const { class: failureClass } = result.failure
      if (result.failure === unreadableCredential) tries -= 1 // nobody was called
      if (failureClass === 'client') isOver = true
      if (failureClass === 'context-overflow') {
        const { window: said = Number.POSITIVE_INFINITY } = result.failure
        window = Math.max(window ?? 0, contextWindowOf(catalog, target) ?? said)
      }
    },
  }
}

/**
 * Is it another key to the model at which all attempts have failed, or to the provider that has refused all keys? A provider with many keys
 * would use up all attempts.
 */
const isMoreOfTheSame = ({ provider, model }: RouteTarget, failures: readonly FailedTarget[]) =>
  failures.length > 0 &&
  failures.every(({ route }) => route.target.provider === provider) &&
  (failures.every(({ route }) => route.target.model === model) ||
    failures.every(({ failure }) => failure.class === 'credentials'))

const isAmong = (targets: readonly RouteTarget[], target: RouteTarget) => targets.some((one) => isSame(one, target))

const isSame = (one: RouteTarget, other: RouteTarget) =>
  one.model === other.model && one.connection.id === other.connection.id
