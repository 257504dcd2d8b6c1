import type { Endpoint } from '../formats/format.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { attempt } from './attempt/hedge.ts'
import { codecFor } from './codec/codec.ts'
import { readRequest, startRequest } from './read.ts'
import { answerReply } from './reply/answer.ts'
import { errorOfRequest, failureReply } from './reply/failure.ts'
import { withSignsOfLife } from './reply/signs-of-life.ts'
import { targetsOf } from './targets/targets.ts'
import type { ModelRequest, RunOptions, Target } from './types.ts'

/** Runs one model request, from its exchange to its reply. Rejects with what the client is to read as an error in its own format. */
export async function run(exchange: Exchange, endpoint: Endpoint, options: RunOptions): Promise<Reply> {
  const started = startRequest(exchange, options)
  const failed = (error: unknown): never => {
    throw errorOfRequest(error, started)
  }
  const request = await readRequest(exchange, endpoint, { ...options, ...started }).catch(failed)
  const progress: RunProgress = { trying: undefined }
  const answering = answer(request, progress).catch(failed)
  return request.call.stream ? withSignsOfLife(answering, request, progress) : answering
}

/** How far a request has come: the target of the latest attempt. */
interface RunProgress {
  trying: Target | undefined
}

/** Tries one target after the other until one answers, the client is at fault, or the attempts are used up. */
async function answer(request: ModelRequest, progress: RunProgress): Promise<Reply> {
  const targets = await targetsOf(request, codecFor)
  try {
    for await (const target of targets) {
      progress.trying = target
      const outcome = await attempt(request, target, targets) // one call, or two when the combo hedges
      if (outcome.kind === 'failed') continue
      await targets.settled(outcome.route)
      request.client.stopTimeout()
      return await answerReply(outcome, request)
    }
    return await failureReply(request, targets)
  } finally {
    targets.close()
  }
}
