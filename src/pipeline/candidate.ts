import { isGatewayError } from '../errors.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { Route } from '../routing/group.ts'
import type { Trial } from '../routing/trial.ts'
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
  try {
    const transform = transformFor(progress.request, route.target)
    return isPromise(transform) ? candidateWith(transform, { route, trial, progress }) : { route, transform, trial }
  } catch (thrown) {
    return refused(thrown, { route, trial, progress })
  }
}

interface Considered extends Pick<Candidate, 'route' | 'trial'> {
  progress: Progress
}

const candidateWith = (coming: Promise<Transform>, considered: Considered): Promise<Candidate | undefined> =>
  coming.then(
    (transform) => ({ route: considered.route, transform, trial: considered.trial }),
    (thrown: unknown) => refused(thrown, considered),
  )

function refused(thrown: unknown, { route, trial, progress }: Considered): undefined {
  trial.dropped()
  if (!isGatewayError(thrown, 'INVALID_REQUEST') && !isGatewayError(thrown, 'FORMAT_MISMATCH')) throw thrown
  progress.refusal ??= thrown
  progress.request.report.skipped(route, 'format')
}
