import type { NoTarget } from '../choose/targets.ts'
import type { PipelineContext } from '../context.ts'
import type { Failed } from '../outcome.ts'
import { failureRules } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'

/**
 * The shortest wait in ms after which another request may be answered: what a provider asked for, until there is a retry budget again, or
 * until a target recovers that was passed over or left untried; where there is none of these, until one recovers that has failed.
 * `undefined` where only the client can help, or time does not.
 */
export function retryWaitMs(
  failed: readonly Failed[],
  { stop, untried, cooling }: NoTarget,
  context: PipelineContext,
): number | undefined {
  const classes = failed.map(({ failure }) => failure.class)
  if (classes.includes('client') || classes.every((one) => one === 'context-overflow')) return undefined
  const now = context.clock.now()
  const waits = failed.flatMap(({ failure }) => (failure.class === 'credentials' ? [] : (failure.retryAfterMs ?? [])))
  const untriedDueAt = untried && getReachTime(untried, failed, context)
  waits.push(...cooling.flatMap(({ route }) => getRecovery(route, context)).map((at) => at - now))
  if (untriedDueAt !== undefined) waits.push(untriedDueAt - now)
  if (stop === 'retry-budget') waits.push(BUDGET_MS)
  if (waits.length === 0) waits.push(...failed.flatMap((one) => getFailureRecovery(one, context)).map((at) => at - now))
  return waits.length > 0 ? Math.min(...waits) : undefined
}

/** The retry budget is renewed each second. */
const BUDGET_MS = 1_000

/** When another request would come to a route that was left untried: not while it would try those again that have failed. */
function getReachTime(route: Route, failed: readonly Failed[], context: PipelineContext): number | undefined {
  const { health, clock } = context
  if (!failed.every(({ route: { target } }) => health.getCooldown(target))) return undefined
  return health.getCooldown(route.target) ? getRecovery(route, context)[0] : clock.now()
}

/** When the failed target is used again; nothing where waiting mends nothing. */
const getFailureRecovery = ({ route, failure }: Failed, context: PipelineContext): number[] =>
  failureRules[failure.class].isOverInTime && failure.retry !== 'never' ? getRecovery(route, context) : []

/** When the target is used again; nothing where it is not left alone, or for a reason that waiting does not mend. */
function getRecovery({ target }: Route, { health }: PipelineContext): number[] {
  const cooldown = health.getCooldown(target)
  return cooldown && failureRules[cooldown.class].isOverInTime ? [cooldown.dueAt] : []
}
