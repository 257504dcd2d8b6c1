import type { GatewayError } from '../../errors.ts'
import { getContextWindow } from '../../protocols/providers/catalog-model.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Failed, Target } from '../outcome.ts'
import { type Route, type RouteTarget, serializeParams } from '../routing/group.ts'

/** A cooling target, and when it recovers (epoch ms). */
export interface CoolingTarget {
  route: Route
  dueAt: number
  isMandatory: boolean
}

/** The progress of one request through its targets. */
export interface Progress {
  readonly request: ModelRequest
  /** Was the session of the request answered by this connection lately? */
  isPinned(route: Route): boolean
  /** The target of each attempt. */
  readonly tried: RouteTarget[]
  /** The last failure of each target that was tried. */
  readonly failures: Failed[]
  /** The cooling targets that were passed over: first those that are tried when no other is left, each by the time of its recovery. */
  readonly cooling: CoolingTarget[]
  /** The routes that were passed over as their connections are draining. */
  readonly draining: Route[]
  /** What the first target was refused for whose format cannot carry the request, or that a step does not allow. */
  refusal: GatewayError | undefined
  /** The error of the first target that the request may not use. */
  barred: GatewayError | undefined
}

/** The error of the first rule by which the request may not use the target of a route. */
export function findBarrier(request: ModelRequest, route: Route): GatewayError | undefined {
  for (const rule of request.log.targetRules) {
    const error = rule(request, route.target, route)
    if (error) return error
  }
  return undefined
}

/** The target of a route. Its permit is taken at once, or every request of a burst would probe the same cooling target. */
export const createTarget = (route: Route, { context }: ModelRequest): Target => ({
  route,
  permit: context.health.begin(route.target),
})

/**
 * May the request not use it, was it tried already, is it draining or cooling, or is its context window too small for the request? Adds the
 * reason to the log.
 */
export function isSkipped(route: Route, progress: Progress): boolean {
  const { request, tried, failures, cooling } = progress
  const { log, context } = request
  const { target } = route
  const barred = findBarrier(request, route)
  if (barred) {
    progress.barred ??= barred
    log.skipped(route, 'refused')
    return true
  }
  if (isAmong(tried, target)) {
    const failed = failures.find((one) => isSame(one.route.target, target))
    if (failed) log.skipped(route, failed.failure.class)
    return true
  }
  if (target.connection.draining && !progress.isPinned(route)) {
    progress.draining.push(route)
    log.skipped(route, 'draining')
    return true
  }
  const cooldown = context.health.getCooldown(target)
  if (cooldown) {
    addCooling({ ...cooldown, route }, cooling)
    log.skipped(route, cooldown.class)
    return true
  }
  if (failures.length === 0 || !isTooSmall(target, progress)) return false
  log.skipped(route, 'context-overflow')
  return true
}

function addCooling({ route, dueAt, isMandatory }: CoolingTarget, cooling: CoolingTarget[]): void {
  const later = cooling.findIndex((one) => (one.isMandatory === isMandatory ? one.dueAt > dueAt : one.isMandatory))
  cooling.splice(later < 0 ? cooling.length : later, 0, { route, dueAt, isMandatory })
}

/** Has the request not fitted into a window of that size? By the catalog, else by the provider's refusal; any where neither is known. */
export function isTooSmall(target: RouteTarget, { request, failures }: Progress): boolean {
  const getSize = (one: RouteTarget) => getContextWindow(request.context.catalog, one)
  return failures.some(({ route, failure }) => {
    if (failure.class !== 'context-overflow') return false
    const { window = Number.POSITIVE_INFINITY } = failure
    return (getSize(target) ?? 0) <= (getSize(route.target) ?? window)
  })
}

/**
 * Is it another key to the model at which all attempts have failed, or to the provider that has refused all keys? A provider with many keys
 * would use up all attempts.
 */
export const wouldRepeatFailure = ({ provider, model }: RouteTarget, { failures }: Progress): boolean =>
  failures.length > 0 &&
  failures.every(({ route }) => route.target.provider === provider) &&
  (failures.every(({ route }) => route.target.model === model) ||
    failures.every(({ failure }) => failure.class === 'credentials'))

/** Notes the failure of an attempt, in place of an earlier one of the same target. */
export function noteFailure(failed: Failed, { failures }: Progress): void {
  const at = failures.findIndex((one) => isSame(one.route.target, failed.route.target))
  const [earlier] = at >= 0 ? failures.splice(at, 1) : []
  earlier?.empty?.log.emptyAnswerDropped(earlier.failure)
  failures.push(failed)
}

/** Is the target one of them? */
export const isAmong = (targets: readonly RouteTarget[], target: RouteTarget): boolean =>
  targets.some((one) => isSame(one, target))

/** With other parameters it is another target: the same model may answer then. */
const isSame = (one: RouteTarget, other: RouteTarget) =>
  one.model === other.model &&
  one.connection.id === other.connection.id &&
  serializeParams(one) === serializeParams(other)
