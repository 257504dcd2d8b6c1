import { saysNoFunds } from '../formats/vendor-words.ts'
import type { Reply } from '../lib/exchange.ts'
import type { Selection } from '../routing/chooser.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'
import type { AttemptPlan, FailedTarget } from './attempt-plan.ts'
import { blankReply } from './blank-reply.ts'
import type { PipelineContext } from './context.ts'
import { estimateReply } from './estimate.ts'
import type { Failure } from './failure.ts'
import { finalReply } from './final.ts'
import type { ModelRequest } from './model-request.ts'

/**
 * The reply when no target has answered: an empty answer if there was nothing but those, the provider's error, or an estimate where tokens
 * were to be counted. Reports its end. Rejects with the gateway's own error when no provider has sent one.
 */
export async function nobodyAnswered(
  request: ModelRequest,
  plan: AttemptPlan,
  selection: Selection | undefined,
): Promise<Reply> {
  const { stop } = plan.verdict()
  const refused = plan.failures.find(({ failure }) => failure.class === 'client')?.route // an answer as well
  if (refused || !stop) await selection?.answered(refused) // what has not been tried is nearer to its turn
  if (stop) request.report.stopped(stop)
  const blank = await blankReply(request, plan)
  if (blank) return blank
  const reply = await failureReply(request, plan)
  request.report.ended(reply.status)
  request.client.stopWatching()
  return reply
}

async function failureReply(request: ModelRequest, plan: AttemptPlan): Promise<Reply> {
  const { call, report, context, format } = request
  const { failures } = plan
  const { stop, untried, refusal, dueAt } = plan.verdict()
  const { steps } = report
  if (call.endpoint.operation === 'count-tokens' && failures.every(({ failure }) => hasNoCounter(failure)))
    return estimateReply(request)
  if (failures.length === 0 && refusal) throw refusal
  return finalReply({
    failed: failures,
    steps,
    stop,
    dueAt,
    untriedAt: untried && reachedAt(untried, failures, context),
    recoveries: failures.flatMap((failed) => recoveryOf(failed, context)),
    format,
    now: context.clock.now(),
  })
}

/** When another request would come to a route that was left untried: not while it would try those again that have failed. */
function reachedAt(
  { target }: Route,
  failures: readonly FailedTarget[],
  { health, clock }: PipelineContext,
): number | undefined {
  const isPassing = failures.every(({ route }) => health.standingOf(route.target))
  return isPassing ? (health.standingOf(target)?.dueAt ?? clock.now()) : undefined
}

/** When the failed target is used again; nothing where it is not left alone, or waiting mends nothing. */
function recoveryOf({ route, failure }: FailedTarget, { health }: PipelineContext): number[] {
  const isMended = MENDED_BY_TIME.has(failure.class) && !saysNoFunds(failure.message)
  const standing = isMended ? health.standingOf(route.target) : undefined
  return standing ? [standing.dueAt] : []
}

const MENDED_BY_TIME: ReadonlySet<FailureClass> = new Set(['rate-limit', 'server', 'network', 'timeout', 'content'])

/** Does the provider have no path for counting? Most compatible vendors have none. */
const hasNoCounter = ({ class: failure, status, upstreamStatus = status }: Failure) =>
  failure === 'client' && [404, 405, 501].includes(upstreamStatus)
