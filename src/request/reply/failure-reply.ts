import { type GatewayError, isGatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { FurtherTargets } from '../choose/further-targets.ts'
import type { Targets } from '../choose/targets.ts'
import { createDrainingError } from '../codec/call-failure.ts'
import { ATTEMPTS_HEADER, createAttemptHeaders } from '../hook-records.ts'
import type { ModelRequest } from '../model-request.ts'
import type { AnsweredAttempt } from '../outcome.ts'
import { addAttemptsHeader, createFinalReply } from './final-reply.ts'
import { createResponseReply } from './response-reply.ts'
import { getRetryWaitMs } from './retry-wait.ts'

/**
 * Creates the reply if no target succeeded: an empty response if all targets returned empty ones, the provider's error, or the gateway's own
 * response, such as a token estimate. Rejects with the gateway's own error if no provider sent one.
 */
export async function createFailureReply(request: ModelRequest, targets: Targets): Promise<Reply> {
  const furtherTargets = await targets.loadFurther()
  const { stopReason } = furtherTargets.getVerdict()
  const rejectedRoute = furtherTargets.failures.find(({ failure }) => failure.class === 'client')?.route // a rejected request also counts as a response
  if (rejectedRoute || !stopReason) await targets.finish(rejectedRoute) // otherwise, the turn moves on, so that untried entries come sooner
  if (stopReason) request.log.recordStopReason(stopReason)
  return (await createEmptyResponseReply(request, furtherTargets)) ?? createErrorReply(request, furtherTargets)
}

async function createErrorReply(request: ModelRequest, targets: FurtherTargets): Promise<Reply> {
  const { call, log, context, format } = request
  const { failures } = targets
  const verdict = targets.getVerdict()
  if (verdict.requestRejection) throw verdict.requestRejection
  if (failures.length === 0 && isModelNameError(verdict.rejection)) throw verdict.rejection // no target could accept such a name
  if (failures.every(({ failure }) => failure.lacksEndpoint)) {
    const missingResponse = await call.endpoint.operation.missing?.getResponse?.(call.body, format)
    if (missingResponse) return createGatewayReply(missingResponse, log)
  }
  if (failures.length === 0 && verdict.rejection) throw verdict.rejection
  if (failures.length === 0 && verdict.draining.length > 0) throw createDrainingError(call.model)
  return createFinalReply({
    failedAttempts: failures,
    steps: log.steps,
    stopReason: verdict.stopReason,
    retryWaitMs: getRetryWaitMs(failures, verdict, context),
    table: request.table,
    endpoint: call.endpoint,
    format,
    now: context.clock.now(),
  })
}

const isModelNameError = (rejection: GatewayError | undefined): rejection is GatewayError =>
  rejection?.data.param === 'model'

/** Creates the reply with the gateway's own response, if no target has the endpoint. `x-signalbox-warning` identifies it. */
const createGatewayReply = (
  { response, warning }: { response: object; warning: string },
  { steps }: ModelRequest['log'],
): Reply => ({
  status: 200,
  headers: { 'content-type': 'application/json', 'x-signalbox-warning': warning, ...createAttemptHeaders(steps) },
  body: JSON.stringify(response),
})

/**
 * Returns the last response that only its combo's conditions reject. Otherwise, returns the last empty response if all called targets returned one,
 * because models do sometimes end their turn that way, and another target would probably return the same. Such a response counts neither for nor
 * against the targets. Returns `undefined` if anything else has failed, or if the response can't be read.
 */
async function createEmptyResponseReply(request: ModelRequest, targets: FurtherTargets): Promise<Reply | undefined> {
  const calledAttempts = targets.failures.filter(({ failure }) => !failure.lacksCredential)
  const unwantedAttempt = calledAttempts.findLast(({ failure, unusedAttempt }) => failure.isUnwanted && unusedAttempt)
  const lastAnswer = (unwantedAttempt ?? calledAttempts.at(-1))?.unusedAttempt
  if (!lastAnswer || !(unwantedAttempt || calledAttempts.every(({ unusedAttempt }) => unusedAttempt))) return undefined
  const response = await convertToClientFormat(lastAnswer, request)
  if (!response) return undefined
  for (const { unusedAttempt, failure } of calledAttempts) unusedAttempt?.log.recordEmptyUsed(failure)
  const { headers, ...reply } = await createResponseReply(response, request)
  const { stopReason } = targets.getVerdict()
  if (stopReason) headers[ATTEMPTS_HEADER] += `, stopped=${stopReason}`
  return { ...reply, headers }
}

/** Adds the bytes of a complete response in the client's format. Returns `undefined` if it can't be read. */
async function convertToClientFormat(
  answeredAttempt: AnsweredAttempt,
  request: ModelRequest,
): Promise<AnsweredAttempt | undefined> {
  const { response, route } = answeredAttempt
  if (response.kind === 'stream') return answeredAttempt
  const { context, call } = request
  try {
    const codec = call.stream
      ? await (await context.loadTranslation()).adaptToWhole(request, route.target, answeredAttempt.codec)
      : answeredAttempt.codec
    return { ...answeredAttempt, codec, bytes: codec.readWhole(response) }
  } catch (error) {
    if (!isGatewayError(error)) context.onError(error)
    return undefined
  }
}

/** Adds the attempts that were made to the error that the client gets. */
export function addAttempts(error: unknown, { log, client }: ModelRequest): unknown {
  const isUnchanged = log.steps.length === 0 || !isGatewayError(error) || error.status === 499 || error.status === 500
  return isUnchanged ? error : addAttemptsHeader(error, log.steps, error === client.goneReason)
}
