import type { GatewayError } from '../../errors.ts'
import { getContextWindow } from '../../protocols/providers/catalog-model.ts'
import type { ModelRequest } from '../model-request.ts'
import type { FailedAttempt } from '../outcome.ts'
import { type Route, type RouteTarget, serializeParams } from '../routing/group.ts'
import { findRuleViolation } from './usable-target.ts'

/** A target in cooldown, and when it recovers (epoch ms). */
export interface CoolingTarget {
  route: Route
  dueAt: number
  isMandatory: boolean
}

/** A request's progress through its candidate targets. */
export interface Progress {
  readonly request: ModelRequest
  /** Returns whether this connection recently served the request's session. */
  isPinned(route: Route): boolean
  /** The targets of all attempts so far. */
  readonly triedTargets: RouteTarget[]
  /** The last failure of each target that was tried. */
  readonly failures: FailedAttempt[]
  /** The skipped targets that are in cooldown, ordered by when they should be tried if no other target is left. */
  readonly coolingTargets: CoolingTarget[]
  /** The skipped routes with draining connections. */
  readonly drainingRoutes: Route[]
  /** The error of the first target whose format doesn't support the request, or that a step rejected. */
  rejection: GatewayError | undefined
  /** The error of a target that the request isn't allowed to use (`pickCloserError`). */
  ruleViolation: GatewayError | undefined
}

/**
 * Returns whether to skip the target: it isn't allowed, was already tried, is in cooldown or draining (unless the session is pinned to it), or has
 * too small a context window. Logs the reason.
 */
export function shouldSkip(route: Route, progress: Progress): boolean {
  const { request, triedTargets, failures, coolingTargets } = progress
  const { log, context } = request
  const { target } = route
  const ruleViolation = findRuleViolation(request, route)
  if (ruleViolation) {
    progress.ruleViolation = pickCloserError(progress.ruleViolation, ruleViolation)
    log.recordSkip(route, 'refused')
    return true
  }
  if (includesTarget(triedTargets, target)) {
    const failedAttempt = failures.find((attempt) => isSameTarget(attempt.route.target, target))
    if (failedAttempt) log.recordSkip(route, failedAttempt.failure.class)
    return true
  }
  if (target.connection.draining && !progress.isPinned(route)) {
    progress.drainingRoutes.push(route)
    log.recordSkip(route, 'draining')
    return true
  }
  const cooldown = context.health.getCooldown(target)
  if (cooldown) {
    addCooling({ ...cooldown, route }, coolingTargets)
    log.recordSkip(route, cooldown.class)
    return true
  }
  if (failures.length === 0 || !isWindowTooSmall(target, progress)) return false
  log.recordSkip(route, 'context-overflow')
  return true
}

/** Returns the error for the target with fewer unmet tags, or else the first error. */
export function pickCloserError(first: GatewayError | undefined, other: GatewayError): GatewayError {
  const isCloser = Number(other.data.unmet) < Number(first?.data.unmet ?? Number.POSITIVE_INFINITY)
  return first && !isCloser ? first : other
}

function addCooling({ route, dueAt, isMandatory }: CoolingTarget, coolingTargets: CoolingTarget[]): void {
  const insertIndex = coolingTargets.findIndex((entry) =>
    entry.isMandatory === isMandatory ? entry.dueAt > dueAt : entry.isMandatory,
  )
  coolingTargets.splice(insertIndex < 0 ? coolingTargets.length : insertIndex, 0, { route, dueAt, isMandatory })
}

/**
 * Returns whether the request has already exceeded a context window at least as large as the target's. Sizes come from the catalog, or else from the
 * provider's error. If either size is unknown, the target counts as too small.
 */
export function isWindowTooSmall(target: RouteTarget, { request, failures }: Progress): boolean {
  const getWindowSize = (target: RouteTarget) => getContextWindow(request.context.catalog, target)
  return failures.some(({ route, failure }) => {
    if (failure.class !== 'context-overflow') return false
    const { window = Number.POSITIVE_INFINITY } = failure
    return (getWindowSize(target) ?? 0) <= (getWindowSize(route.target) ?? window)
  })
}

/**
 * Returns whether the route leads to another connection for a model that has failed in all attempts, or for a provider that has rejected all keys.
 * Otherwise, a provider with many keys would use up all attempts.
 */
export const wouldRepeatFailure = ({ provider, model }: RouteTarget, { failures }: Progress): boolean =>
  failures.length > 0 &&
  failures.every(({ route }) => route.target.provider === provider) &&
  (failures.every(({ route }) => route.target.model === model) ||
    failures.every(({ failure }) => failure.class === 'credentials'))

/** Records an attempt's failure, replacing an earlier one at the same target. */
export function recordFailure(failedAttempt: FailedAttempt, { failures }: Progress): void {
  const index = failures.findIndex((attempt) => isSameTarget(attempt.route.target, failedAttempt.route.target))
  const [earlierAttempt] = index >= 0 ? failures.splice(index, 1) : []
  earlierAttempt?.unusedAttempt?.log.recordEmptyDropped(earlierAttempt.failure)
  failures.push(failedAttempt)
}

/** Returns whether the target is in the list. */
export const includesTarget = (targets: readonly RouteTarget[], target: RouteTarget): boolean =>
  targets.some((other) => isSameTarget(other, target))

/** The same model with different parameters is a different target, because it may succeed. */
const isSameTarget = (a: RouteTarget, b: RouteTarget) =>
  a.model === b.model && a.connection.id === b.connection.id && serializeParams(a) === serializeParams(b)

/** Returns the target to try when no other is left: the untried one in cooldown that recovers first. Ignores targets in a mandatory cooldown. */
export function findCoolingTarget(progress: Progress): Route | undefined {
  const { health } = progress.request.context
  return progress.coolingTargets.find(({ route: { target } }) => {
    const { isMandatory = false } = health.getCooldown(target) ?? {}
    return !isMandatory && !includesTarget(progress.triedTargets, target) && !isWindowTooSmall(target, progress)
  })?.route
}
