import { isGatewayError } from '../errors.ts'
import type { Reply } from '../lib/exchange.ts'
import type { Trial } from '../routing/trial.ts'
import type { AttemptPlan } from './attempt-plan.ts'
import { ATTEMPTS_HEADER } from './attempt-record.ts'
import { unreadableCredential } from './failure.ts'
import type { ModelRequest } from './model-request.ts'
import { keyFinderFor, successReply } from './success-reply.ts'
import type { Success } from './try.ts'
import { wholeAsStream } from './whole-as-stream.ts'

/**
 * The last answer, where all targets that were called have given empty ones: models do end their turns so, and another client would get it,
 * too. It counts neither for nor against them. `undefined` where anything else has failed, or the answer cannot be read.
 */
export async function blankReply(request: ModelRequest, plan: AttemptPlan): Promise<Reply | undefined> {
  const { failures } = plan
  const called = failures.filter(({ failure }) => failure !== unreadableCredential)
  const last = called.at(-1)?.kept
  if (!last || !called.every(({ kept }) => kept)) return undefined
  const written = await inForm(last, request)
  if (!written) return undefined
  for (const failed of called) {
    failed.kept?.trial.failed({ ...failed.failure, class: 'client' })
    delete failed.kept
  }
  const { headers, ...reply } = successReply(
    { ...written, trial: settled },
    request,
    await keyFinderFor(written, request.context),
  )
  const { stop } = plan.verdict()
  if (stop) headers[ATTEMPTS_HEADER] += `, stopped=${stop}`
  return { ...reply, headers }
}

/** The same with the bytes of a whole answer in the form that the client reads; `undefined` when it cannot be read. */
async function inForm(success: Success, request: ModelRequest): Promise<Success | undefined> {
  const { answer, route } = success
  if (answer.kind === 'stream') return success
  try {
    const { target } = route
    let { transform } = success
    if (request.call.stream) transform = await wholeAsStream(request, { target, transform })
    return { ...success, transform, bytes: transform.whole(answer) }
  } catch (thrown) {
    if (!isGatewayError(thrown)) request.context.observer.onError(thrown)
    return undefined
  }
}

const nothing = () => {}
const settled: Trial = { answered: nothing, begun: nothing, cut: nothing, failed: nothing, dropped: nothing }
