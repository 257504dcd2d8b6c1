import { failureRules } from '../../routing/failure-class.ts'
import type { Route } from '../../routing/group.ts'
import type { PipelineContext } from '../context.ts'
import type { Failed } from '../outcome.ts'
import type { NoTarget } from '../targets/targets.ts'

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
  const untriedAt = untried && reachedAt(untried, failed, context)
  waits.push(...cooling.flatMap(({ route }) => recoveryAt(route, context)).map((at) => at - now))
  if (untriedAt !== undefined) waits.push(untriedAt - now)
  if (stop === 'retry-budget') waits.push(BUDGET_MS)
  if (waits.length === 0) waits.push(...failed.flatMap((one) => recoveryOf(one, context)).map((at) => at - now))
  return waits.length > 0 ? Math.min(...waits) : undefined
}

/** The retry budget is renewed each second. */
const BUDGET_MS = 1_000

/** When another request would come to a route that was left untried: not while it would try those again that have failed. */
function reachedAt(route: Route, failed: readonly Failed[], context: PipelineContext): number | undefined {
  const { health, clock } = context
  if (!failed.every(({ route: { target } }) => health.cooldownOf(target))) return undefined
  return health.cooldownOf(route.target) ? recoveryAt(route, context)[0] : clock.now()
}

/** When the failed target is used again; nothing where waiting mends nothing. */
const recoveryOf = ({ route, failure }: Failed, context: PipelineContext): number[] =>
  failureRules[failure.class].isOverInTime && failure.retry !== 'never' ? recoveryAt(route, context) : []

/** When the target is used again; nothing where it is not left alone, or for a reason that waiting does not mend. */
function recoveryAt({ target }: Route, { health }: PipelineContext): number[] {
  const cooldown = health.cooldownOf(target)
  return cooldown && failureRules[cooldown.class].isOverInTime ? [cooldown.dueAt] : []
}
