import type { Reply } from '../lib/exchange.ts'
import { once } from '../lib/promises.ts'
import { Attempt } from './attempt/attempt.ts'
import { Targets } from './choose/targets.ts'
import type { PipelineContext } from './context.ts'
import type { ModelRequest } from './model-request.ts'
import { readRequest } from './read-request.ts'
import { replyWithKeepAlive } from './reply/keep-alive.ts'
import { createResponseReply, loadStreamReply } from './reply/response-reply.ts'
import type { Route } from './routing/group.ts'
import type { ServedRequest } from './steps.ts'

/** Runs one model request, from its body to its reply. Rejects with the error that the client gets in its own format. */
export async function run(servedRequest: ServedRequest, context: PipelineContext): Promise<Reply> {
  const request = await readRequest(servedRequest, context)
  const steps = context.aroundCall.filter(({ appliesTo }) => appliesTo(request))
  const replyPromise =
    steps.length === 0
      ? tryTargets(request)
      : loadSteps().then(({ serveWithSteps }) => serveWithSteps(steps, { servedRequest, request, respond: tryTargets }))
  if (!request.call.stream) return replyPromise
  loadStreamReply().catch(context.onError)
  return replyWithKeepAlive(replyPromise, request)
}

/** Lazy-loaded, because few requests are hedged. */
const loadHedging = once(() => import('./attempt/run-hedged.ts'))

/** Lazy-loaded, because few requests fail. */
const loadFailureReply = once(() => import('./reply/failure-reply.ts'))

/** Lazy-loaded, because few gateways have steps around calls. */
const loadSteps = once(() => import('./call-steps.ts'))

/** Tries one target after another until one responds, the client is at fault, or the attempts are used up. */
async function tryTargets(request: ModelRequest): Promise<Reply> {
  const targets = new Targets(request)
  try {
    for (
      let attempt = await createNextAttempt(request, targets);
      attempt;
      attempt = await createNextAttempt(request, targets)
    ) {
      const outcome = isHedged(attempt.route)
        ? await (await loadHedging()).runHedged(attempt, request, {
            next: () => createNextAttempt(request, targets, { isHedge: true }),
            recordOutcome: (outcome) => targets.recordOutcome(outcome),
          })
        : await attempt.run()
      if (outcome.kind !== 'answered') {
        await targets.recordOutcome(outcome)
        continue
      }
      await targets.finish(outcome.route)
      return await createResponseReply(outcome, request)
    }
    const { createFailureReply } = await loadFailureReply()
    return await createFailureReply(request, targets)
  } catch (error) {
    const { addAttempts } = await loadFailureReply()
    throw addAttempts(error, request)
  } finally {
    targets.close()
  }
}

/** Returns whether a combo on the route hedges slow attempts. */
function isHedged({ via }: Route): boolean {
  for (let choice = via; choice; choice = choice.parent) if (choice.group.hedge) return true
  return false
}

/** Returns the attempt at the next target, ready to be made, or `undefined` if there is none. */
async function createNextAttempt(
  request: ModelRequest,
  targets: Targets,
  { isHedge } = { isHedge: false },
): Promise<Attempt | undefined> {
  const target = await targets.next({ isHedge })
  return target && new Attempt(request, target, { isHedge, onStart: () => targets.recordStart() })
}
