import { encode } from '../codec/encode.ts'
import type { Reply } from '../lib/exchange.ts'
import { Attempt } from './attempt/attempt.ts'
import { hedged, hedgeOf } from './attempt/hedge.ts'
import type { PipelineContext } from './context.ts'
import { readRequest } from './read.ts'
import { answerReply } from './reply/answer.ts'
import { errorWithAttempts, failureReply } from './reply/failure.ts'
import { keptAlive } from './reply/keep-alive.ts'
import type { ModelRequest } from './request.ts'
import type { ServedRequest } from './steps.ts'
import { Targets } from './targets/targets.ts'

/** Runs one model request, from its body to its reply. Rejects with what the client is to read as an error in its own format. */
export async function run(served: ServedRequest, context: PipelineContext): Promise<Reply> {
  const request = await readRequest(served, context)
  const answering = answer(request)
  return request.call.stream ? keptAlive(answering, request) : answering
}

/** Tries one target after the other until one answers, the client is at fault, or the attempts are used up. */
async function answer(request: ModelRequest): Promise<Reply> {
  const targets = new Targets(request)
  try {
    for (let attempt = await nextAttempt(request, targets); attempt; attempt = await nextAttempt(request, targets)) {
      const hedge = hedgeOf(request, attempt.route, {
        next: () => nextAttempt(request, targets, { isHedge: true }),
        note: (outcome) => targets.note(outcome),
      })
      const outcome = hedge ? await hedged(attempt, hedge) : await attempt.run()
      if (outcome.kind !== 'answered') {
        targets.note(outcome)
        continue
      }
      await targets.noteAnswer(outcome.route)
      return await answerReply(outcome, request)
    }
    return await failureReply(request, targets)
  } catch (error) {
    throw errorWithAttempts(error, request)
  } finally {
    targets.close()
  }
}

/** The attempt at the next target whose format can carry the request, ready to be made; `undefined` when there is none. */
async function nextAttempt(
  request: ModelRequest,
  targets: Targets,
  { isHedge } = { isHedge: false },
): Promise<Attempt | undefined> {
  for (let target = await targets.next({ isHedge }); target; target = await targets.next({ isHedge })) {
    try {
      const codec = await encode(request, target.route.target)
      if (targets.begin(target, { isHedge })) return new Attempt(request, target, codec, { isHedge })
    } catch (error) {
      targets.passOver(target, error)
    }
  }
  return undefined
}
