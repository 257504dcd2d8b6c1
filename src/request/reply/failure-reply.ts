import { type GatewayError, isGatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { Targets } from '../choose/targets.ts'
import { createDrainingError, unreadableCredential } from '../codec/call-failure.ts'
import { ATTEMPTS_HEADER, attemptHeaders } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import type { Answered } from '../outcome.ts'
import { answerReply } from './answer-reply.ts'
import { finalReply, withAttempts } from './final-reply.ts'
import { retryWaitMs } from './retry-wait.ts'

/**
 * The reply when no target has answered: an empty answer if all targets gave empty ones, the provider's error, or the gateway's own answer, such as
 * an estimate of tokens. Rejects with the gateway's own error when no provider has sent one.
 */
export async function failureReply(request: ModelRequest, targets: Targets): Promise<Reply> {
  const { stop } = targets.verdict()
  const refused = targets.failures.find(({ failure }) => failure.class === 'client')?.route // an answer as well
  if (refused || !stop) await targets.noteAnswer(refused) // what has not been tried is nearer to its turn
  if (stop) request.log.stopped(stop)
  return (await createEmptyAnswerReply(request, targets)) ?? errorReply(request, targets)
}

async function errorReply(request: ModelRequest, targets: Targets): Promise<Reply> {
  const { call, log, context, format } = request
  const { failures } = targets
  const verdict = targets.verdict()
  if (verdict.refusalOfRequest) throw verdict.refusalOfRequest
  if (failures.length === 0 && isModelNameError(verdict.refusal)) throw verdict.refusal // no target could answer for such a name
  if (failures.every(({ failure }) => failure.lacksEndpoint)) {
    const own = await call.endpoint.operation.missing?.ownAnswer?.(call.body, format)
    if (own) return createOwnReply(own, log)
  }
  if (failures.length === 0 && verdict.refusal) throw verdict.refusal
  if (failures.length === 0 && verdict.draining.length > 0) throw createDrainingError(call.model)
  return finalReply({
    failed: failures,
    steps: log.steps,
    stop: verdict.stop,
    retryWaitMs: retryWaitMs(failures, verdict, context),
    table: request.table,
    endpoint: call.endpoint,
    format,
    now: context.clock.now(),
  })
}

/** Is it about the name of the model, which no target can be asked for? */
const isModelNameError = (refusal: GatewayError | undefined): refusal is GatewayError => refusal?.data.param === 'model'

/** The reply with the gateway's own answer, for when no target has the endpoint. `x-signalbox-warning` says what it is. */
const createOwnReply = (
  { answer, warning }: { answer: object; warning: string },
  { steps }: ModelRequest['log'],
): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'x-signalbox-warning': warning, ...attemptHeaders(steps) },
  body: JSON.stringify(answer),
})

/**
 * The last answer that only its combo does not want; else the last one, where all targets that were called have given empty ones: models do end
 * their turns so, and another client would get it, too. It counts neither for nor against them. `undefined` where anything else has failed, or the
 * answer cannot be read.
 */
async function createEmptyAnswerReply(request: ModelRequest, targets: Targets): Promise<Reply | undefined> {
  const called = targets.failures.filter(({ failure }) => failure !== unreadableCredential)
  const unwanted = called.findLast(({ failure, empty }) => failure.isUnwanted && empty)
  const last = (unwanted ?? called.at(-1))?.empty
  if (!last || !(unwanted || called.every(({ empty }) => empty))) return undefined
  const answer = await convertToClientFormat(last, request)
  if (!answer) return undefined
  for (const { empty, failure } of called) empty?.log.emptyAnswerUsed(failure)
  const { headers, ...reply } = await answerReply(answer, request)
  const { stop } = targets.verdict()
  if (stop) headers[ATTEMPTS_HEADER] += `, stopped=${stop}`
  return { ...reply, headers }
}

/** The same with the bytes of a whole answer in the form that the client reads; `undefined` when it cannot be read. */
async function convertToClientFormat(answer: Answered, request: ModelRequest): Promise<Answered | undefined> {
  const { response, route } = answer
  if (response.kind === 'stream') return answer
  const { context, call } = request
  try {
    const codec = call.stream
      ? await (await context.translation()).adaptToWhole(request, route.target, answer.codec)
      : answer.codec
    return { ...answer, codec, bytes: codec.readWhole(response) }
  } catch (thrown) {
    if (!isGatewayError(thrown)) context.onError(thrown)
    return undefined
  }
}

/** The error that the client gets when there is no reply, with the attempts that were made. */
export function addAttempts(error: unknown, { log, client }: ModelRequest): unknown {
  const isBare = log.steps.length === 0 || !isGatewayError(error) || error.status === 499 || error.status === 500
  return isBare ? error : withAttempts(error, log.steps, error === client.gone)
}
