import { saysNoFunds } from '../formats/vendor-words.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'
import type { Verdict } from './attempt-plan.ts'
import type { PipelineContext } from './context.ts'
import type { FailedTarget } from './progress.ts'

/**
 * The shortest wait in ms after which another request may be answered: what a provider asked for, until there is a retry budget again, or
 * until a target recovers that was passed over or left untried; where there is none of these, until one recovers that has failed.
 * `undefined` where only the client can help, or time does not.
 */
export function retryWaitMs(
  failed: readonly FailedTarget[],
  { stop, untried, dueAt }: Verdict,
  context: PipelineContext,
): number | undefined {
  const classes = failed.map(({ failure }) => failure.class)
  if (classes.includes('client') || classes.every((one) => one === 'context-overflow')) return undefined
  const now = context.clock.now()
  const waits = failed.flatMap(({ failure }) => failure.retryAfterMs ?? [])
  const untriedAt = untried && reachedAt(untried, failed, context)
  if (dueAt !== undefined) waits.push(dueAt - now)
  if (untriedAt !== undefined) waits.push(untriedAt - now)
  if (stop === 'retry-budget') waits.push(BUDGET_MS)
  if (waits.length === 0) waits.push(...failed.flatMap((one) => recoveryOf(one, context)).map((at) => at - now))
  return waits.length > 0 ? Math.min(...waits) : undefined
}

/** The retry budget is renewed each second. */
const BUDGET_MS = 1_000

/** When another request would come to a route that was left untried: not while it would try those again that have failed. */
function reachedAt(
  { target }: Route,
  failed: readonly FailedTarget[],
  { health, clock }: PipelineContext,
): number | undefined {
  const isPassing = failed.every(({ route }) => health.standingOf(route.target))
  return isPassing ? (health.standingOf(target)?.dueAt ?? clock.now()) : undefined
}

/** When the failed target is used again; nothing where it is not left alone, or waiting mends nothing. */
function recoveryOf({ route, failure }: FailedTarget, { health }: PipelineContext): number[] {
  const isMended = MENDED_BY_TIME.has(failure.class) && !saysNoFunds(failure.message)
  const standing = isMended ? health.standingOf(route.target) : undefined
  return standing ? [standing.dueAt] : []
}

const MENDED_BY_TIME: ReadonlySet<FailureClass> = new Set(['rate-limit', 'server', 'network', 'timeout', 'content'])
