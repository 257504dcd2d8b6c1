import type { Endpoint } from '../formats/format.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { attempt } from './attempt/hedge.ts'
import { codecFor } from './codec/codec.ts'
import { readRequest } from './read.ts'
import { answerReply } from './reply/answer.ts'
import { errorOfRequest, failureReply } from './reply/failure.ts'
import { withSignsOfLife } from './reply/signs-of-life.ts'
import { Targets } from './targets/targets.ts'
import type { ModelRequest, RunOptions, Target } from './types.ts'

/** Runs one model request, from its exchange to its reply. Rejects with what the client is to read as an error in its own format. */
export async function run(exchange: Exchange, endpoint: Endpoint, options: RunOptions): Promise<Reply> {
  const request = await readRequest(exchange, endpoint, options)
  const progress: RunProgress = { trying: undefined }
  const answering = answer(request, progress)
  return request.call.stream ? await withSignsOfLife(answering, request, progress) : await answering
}

/** How far a request has come: the target of the latest attempt. */
interface RunProgress {
  trying: Target | undefined
}

/** Tries one target after the other until one answers, the client is at fault, or the attempts are used up. */
async function answer(request: ModelRequest, progress: RunProgress): Promise<Reply> {
  const targets = new Targets(request, codecFor)
  try {
    for (let target = await targets.next(); target; target = await targets.next()) {
      progress.trying = target
      const outcome = await attempt(request, target, targets) // one call, or two when the combo hedges
      if (outcome.kind === 'failed') {
        targets.failed(outcome)
        continue
      }
      await targets.settled(outcome.route)
      request.client.stopTimeout()
      return await answerReply(outcome, request)
    }
    return await failureReply(request, targets)
  } catch (error) {
    throw errorOfRequest(error, request)
  } finally {
    targets.close()
  }
}
