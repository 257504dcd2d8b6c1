import type { GatewayError } from '../errors.ts'
import { contextWindowOf } from '../providers/catalog-model.ts'
import type { Route, RouteTarget } from '../routing/group.ts'
import type { Standing } from '../routing/health.ts'
import type { ModelRequest } from './model-request.ts'
import type { FailedTry } from './try.ts'

/** What one request has come upon on its way from target to target. */
export interface Progress {
  readonly request: ModelRequest
  /** Was the session of the request answered by this connection lately? */
  isPinned(route: Route): boolean
  /** The target of each attempt. */
  tried: readonly RouteTarget[]
  /** The last failure of each target that was tried. */
  readonly failures: FailedTarget[]
  /** The cooling targets that were passed over: first those that are tried when no other is left, each by the time of its recovery. */
  readonly cooling: CoolingTarget[]
  /** The routes that were passed over as their connections are draining. */
  readonly draining: Route[]
  /** What the first target was refused for whose format cannot carry the request. */
  refusal: GatewayError | undefined
}

/** A cooling target, and when it recovers (epoch ms); see `Standing`. */
export interface CoolingTarget extends Pick<Standing, 'dueAt' | 'isFirm'> {
  route: Route
}

/** The failure of a target that was tried. */
export interface FailedTarget extends FailedTry {
  route: Route
}

/** The progress of a request that has not come to any target. */
export const noProgress = (request: ModelRequest, isPinned: Progress['isPinned']): Progress => ({
  request,
  isPinned,
  tried: [],
  failures: [],
  cooling: [],
  draining: [],
  refusal: undefined,
})

/** Was it tried already, is it draining or cooling, or is its context window too small for the request? Adds the reason to the report. */
export function isPassedOver(route: Route, progress: Progress): boolean {
  const { request, tried, failures, cooling } = progress
  const { report, context } = request
  const { target } = route
  if (tried.length > 0 && isAmong(tried, target)) {
    const failed = failureOf(target, failures)
    if (failed) report.skipped(route, failed.failure.class)
    return true
  }
  if (target.connection.draining && !progress.isPinned(route)) {
    progress.draining.push(route)
    report.skipped(route, 'draining')
    return true
  }
  const standing = context.health.standingOf(target)
  if (standing) {
    noteCooling({ ...standing, route }, cooling)
    report.skipped(route, standing.class)
    return true
  }
  if (failures.length === 0 || !isTooSmall(target, progress)) return false
  report.skipped(route, 'context-overflow')
  return true
}

const failureOf = (target: RouteTarget, failures: readonly FailedTarget[]) =>
  failures.find((one) => isSame(one.route.target, target))

function noteCooling({ route, dueAt, isFirm }: CoolingTarget, cooling: CoolingTarget[]): void {
  const later = cooling.findIndex((one) => (one.isFirm === isFirm ? one.dueAt > dueAt : one.isFirm))
  cooling.splice(later < 0 ? cooling.length : later, 0, { route, dueAt, isFirm })
}

/** Has the request not fitted into a window of that size? By the catalog, else as the provider said; any where neither tells. */
export function isTooSmall(target: RouteTarget, { request, failures }: Progress): boolean {
  const sizeOf = (one: RouteTarget) => contextWindowOf(request.context.catalog, one)
  return failures.some(({ route, failure }) => {
    if (failure.class !== 'context-overflow') return false
    const { window = Number.POSITIVE_INFINITY } = failure
    return (sizeOf(target) ?? 0) <= (sizeOf(route.target) ?? window)
  })
}

/**
 * Is it another key to the model at which all attempts have failed, or to the provider that has refused all keys? A provider with many keys
 * would use up all attempts.
 */
export const isMoreOfTheSame = ({ provider, model }: RouteTarget, { failures }: Progress): boolean =>
  failures.length > 0 &&
  failures.every(({ route }) => route.target.provider === provider) &&
  (failures.every(({ route }) => route.target.model === model) ||
    failures.every(({ failure }) => failure.class === 'credentials'))

/** Notes the failure of an attempt, in place of an earlier one of the same target. */
export function noteFailure(route: Route, result: FailedTry, { failures }: Progress): void {
  const earlier = failures.findIndex((one) => isSame(one.route.target, route.target))
  if (earlier >= 0) failures.splice(earlier, 1)
  failures.push({ ...result, route })
}

/** Is the target one of them? */
export const isAmong = (targets: readonly RouteTarget[], target: RouteTarget): boolean =>
  targets.some((one) => isSame(one, target))

const isSame = (one: RouteTarget, other: RouteTarget) =>
  one.model === other.model && one.connection.id === other.connection.id
