import type { GatewayError } from '../errors.ts'
import type { Reply } from '../lib/exchange.ts'
import type { Selection } from '../routing/chooser.ts'
import type { AttemptPlan } from './attempt-plan.ts'
import { blankReply } from './blank-reply.ts'
import { estimateReply } from './estimate.ts'
import { finalReply } from './final.ts'
import type { ModelRequest } from './model-request.ts'
import { retryWaitMs } from './retry-wait.ts'
import { allDraining } from './still-cooling.ts'

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
  if (refused || !stop) await selection?.answered(refused, plan.unwell()) // what has not been tried is nearer to its turn
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
  const verdict = plan.verdict()
  if (failures.length === 0 && isOfName(verdict.refusal)) throw verdict.refusal // no target could count for such a name
  if (call.endpoint.operation === 'count-tokens' && failures.every(({ failure }) => failure.isUncounted))
    return estimateReply(request)
  if (failures.length === 0 && verdict.refusal) throw verdict.refusal
  if (failures.length === 0 && verdict.draining.length > 0) throw allDraining(call.model)
  return finalReply({
    failed: failures,
    steps: report.steps,
    stop: verdict.stop,
    retryWaitMs: retryWaitMs(failures, verdict, context),
    format,
    now: context.clock.now(),
  })
}

/** Is it about the name of the model, which no target can be asked for? */
const isOfName = (refusal: GatewayError | undefined): refusal is GatewayError => refusal?.data.param === 'model'
