import { contextWindowOf } from '../providers/names.ts'
import type { Route } from '../routing/group.ts'
import type { FailedAttempt } from './attempt.ts'
import type { PipelineContext } from './context.ts'
import type { Report } from './report.ts'

/** Which target comes next, after what has become of those before. */
export interface Itinerary {
  /**
   * The next target that may be tried; `undefined` when there is none, the client is at fault, or attempts or retries are used up.
   * Targets that are cooling are passed over; when all are, the one that recovers first comes rather than none. A hedge stays off them
   * and takes nothing out of the retry budget.
   */
  next(options?: { hedge?: boolean }): Promise<Route | undefined>
  failed(route: Route, result: FailedAttempt): void
  readonly failures: readonly FailedAttempt[]
  /** It ended because the retry budget was used up. */
  readonly isSpent: boolean
}

export function createItinerary(
  routes: AsyncIterator<Route, void>,
  { context, report }: { context: PipelineContext; report: Report },
): Itinerary {
  const { health, limits, retryBudget, catalog } = context
  const failures: FailedAttempt[] = []
  let tries = 0
  let soonest: { route: Route; retryAt: number } | undefined
  let window = 0 // what the request did not fit into
  let isSpent = false
  let isOver = false

  /** The next one that is neither cooling nor too small. */
  async function nextUsable(): Promise<Route | undefined> {
    for (let step = await routes.next(); !step.done; step = await routes.next()) {
      const route = step.value
      const standing = health.standingOf(route.target)
      if (standing) {
        report.skipped(route, standing.class)
        if (!soonest || standing.retryAt < soonest.retryAt) soonest = { route, retryAt: standing.retryAt }
      } else if (window > 0 && !(contextWindowOf(catalog, route.target) > window)) {
        report.skipped(route, 'context-overflow')
      } else return route
    }
    return undefined
  }

  return {
    failures,
    get isSpent() {
      return isSpent
    },
    async next({ hedge = false } = {}) {
      if (isOver || tries >= limits.maxAttempts) return undefined
      const usable = await nextUsable()
      const route = usable ?? (tries === 0 && !hedge ? soonest?.route : undefined)
      if (route && !hedge && tries > 0) isSpent = !retryBudget.spend()
      if (!route || isSpent) return undefined
      tries += 1
      return route
    },
    failed({ target }, result) {
      failures.push(result)
      const { class: failureClass } = result.failure
      if (failureClass === 'client') isOver = true
      if (failureClass === 'context-overflow') window = contextWindowOf(catalog, target) || Number.POSITIVE_INFINITY
    },
  }
}
