import type { NoTarget } from '../choose/further-targets.ts'
import type { PipelineContext } from '../context.ts'
import type { FailedAttempt } from '../outcome.ts'
import { failureRules } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'

/**
 * Returns the shortest wait in ms after which another request may succeed: as long as a provider requested, until the retry budget is available
 * again, or until a skipped or untried target recovers. Otherwise, returns the time until a failed target recovers. Returns `undefined` if only the
 * client can fix the problem, or if waiting doesn't help.
 */
export function getRetryWaitMs(
  failedAttempts: readonly FailedAttempt[],
  { stopReason, untriedRoute, cooling }: NoTarget,
  context: PipelineContext,
): number | undefined {
  const classes = failedAttempts.map(({ failure }) => failure.class)
  if (classes.includes('client') || classes.every((failureClass) => failureClass === 'context-overflow'))
    return undefined
  const now = context.clock.now()
  const waitsMs = failedAttempts.flatMap(({ failure }) =>
    failure.class === 'credentials' ? [] : (failure.retryAfterMs ?? []),
  )
  const untriedDueAt = untriedRoute && getUntriedDueAt(untriedRoute, failedAttempts, context)
  waitsMs.push(...cooling.flatMap(({ route }) => listRecoveryTimes(route, context)).map((time) => time - now))
  if (untriedDueAt !== undefined) waitsMs.push(untriedDueAt - now)
  if (stopReason === 'retry-budget') waitsMs.push(BUDGET_RENEWAL_MS)
  if (waitsMs.length === 0)
    waitsMs.push(
      ...failedAttempts.flatMap((failure) => listFailureRecoveryTimes(failure, context)).map((time) => time - now),
    )
  return waitsMs.length > 0 ? Math.min(...waitsMs) : undefined
}

/** The retry budget is renewed every second. */
const BUDGET_RENEWAL_MS = 1_000

/** Returns when a new request would reach an untried route, or `undefined` if it would retry the failed routes first. */
function getUntriedDueAt(
  route: Route,
  failedAttempts: readonly FailedAttempt[],
  context: PipelineContext,
): number | undefined {
  const { health, clock } = context
  if (!failedAttempts.every(({ route: { target } }) => health.getCooldown(target))) return undefined
  return health.getCooldown(route.target) ? listRecoveryTimes(route, context)[0] : clock.now()
}

/** Returns a list with the time when the failed target recovers (epoch ms). The list is empty if waiting doesn't help. */
const listFailureRecoveryTimes = ({ route, failure }: FailedAttempt, context: PipelineContext): number[] =>
  failureRules[failure.class].isTransient && failure.retry !== 'never' ? listRecoveryTimes(route, context) : []

/** Returns a list with the end of the target's cooldown (epoch ms). The list is empty if there is no cooldown, or if waiting doesn't help. */
function listRecoveryTimes({ target }: Route, { health }: PipelineContext): number[] {
  const cooldown = health.getCooldown(target)
  return cooldown && failureRules[cooldown.class].isTransient ? [cooldown.dueAt] : []
}
