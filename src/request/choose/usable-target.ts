import type { GatewayError } from '../../errors.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Target } from '../outcome.ts'
import type { Route } from '../routing/group.ts'

/** Returns the error of the first rule that forbids the route's target. */
export function findRuleViolation(request: ModelRequest, route: Route): GatewayError | undefined {
  for (const rule of request.log.targetRules) {
    const error = rule(request, route.target, route)
    if (error) return error
  }
  return undefined
}

/** Returns a route's target. Takes its permit immediately; otherwise, every request in a burst would probe the same target in cooldown. */
export const createTarget = (route: Route, { context }: ModelRequest): Target => ({
  route,
  permit: context.health.beginCall(route.target),
})

/** Returns whether a request may use the target now: it is allowed, isn't draining, and isn't in cooldown. */
export const isUsable = (route: Route, request: ModelRequest, isPinned: (route: Route) => boolean): boolean =>
  !findRuleViolation(request, route) &&
  (!route.target.connection.draining || isPinned(route)) &&
  !request.context.health.getCooldown(route.target)
