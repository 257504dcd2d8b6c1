import { isGatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { Route } from '../routing/group.ts'
import type { Trial } from '../routing/health.ts'
import type { Progress } from './progress.ts'
import type { Transform } from './transform.ts'
import { transformFor } from './transform-for.ts'

/** A route to try, with its transform. */
export interface Candidate {
  route: Route
  transform: Transform
  /** The trial that reports the outcome to the target's health; it began when the target was chosen. */
  trial: Trial
}

/**
 * The candidate of a route; `undefined` when the target's format cannot carry the request. The trial begins at once, or every request of a
 * burst would probe the same cooling target.
 */
export function candidateOf(
  route: Route,
  progress: Progress,
  trial: Trial = progress.request.context.health.begin(route.target),
): Awaitable<Candidate | undefined> {
  const { request } = progress

  function failed(thrown: unknown): undefined {
    trial.dropped()
    if (!isGatewayError(thrown, 'INVALID_REQUEST') && !isGatewayError(thrown, 'FORMAT_MISMATCH')) throw thrown
    progress.refusal ??= thrown
    request.report.skipped(route, 'format')
  }

  try {
    const transform = transformFor(request, route.target)
    if (!isPromise(transform)) return { route, transform, trial }
    return transform.then((found) => ({ route, transform: found, trial }), failed)
  } catch (thrown) {
    return failed(thrown)
  }
}
