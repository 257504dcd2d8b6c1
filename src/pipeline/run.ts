import { gatewayError, isGatewayError, toGatewayError } from '../errors.ts'
import type { Format } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import { isPromise } from '../lib/awaitable.ts'
import type { Deadline } from '../lib/deadline.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import type { Trip } from '../routing/chooser.ts'
import type { Visit } from '../routing/visit.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { checkMediaType, parseModelCall } from './call.ts'
import { watchClient } from './client.ts'
import type { PipelineContext } from './context.ts'
import type { Endpoint } from './endpoints.ts'
import { factsOf } from './facts.ts'
import type { Failure } from './failure.ts'

import { createItinerary } from './itinerary.ts'
import type { ModelRequest } from './model-request.ts'
import type { Passage } from './passage.ts'
import { limitPatience } from './patience.ts'
import { createReport } from './report.ts'
import { KEEP_ALIVE_MS } from './stream-headers.ts'
import { successReply } from './success-reply.ts'
import { routesOf } from './targets.ts'
import type { Success } from './try.ts'
import { tryFrom } from './try-from.ts'

/** One model request, from its exchange to its reply. Throws what the client is to read as an error in its own format. */
export async function runModelRequest(
  exchange: Exchange,
  endpoint: Endpoint,
  {
    context,
    key,
    pathModel,
  }: { context: PipelineContext; key?: PresentedKey | undefined; pathModel?: string | undefined },
): Promise<Reply> {
  const report = createReport(exchange, key, context)
  const client = watchClient(exchange, context.inFlight)
  let patience: Deadline | undefined
  let trying: Passage | undefined

  /** Nobody answered: what the client is told of it. */
  async function failed(error: unknown): Promise<unknown> {
    patience?.cancel()
    report.ended(toGatewayError(error).status)
    client.stopWatching()
    if (error !== client.gone || !isGatewayError(error, 'UPSTREAM_TIMEOUT')) return error
    const { outOfTime } = await import('./final.ts')
    return outOfTime(error, report.steps)
  }

  async function answer(request: ModelRequest): Promise<Reply> {
    try {
      const { success, reply } = await walkTargets(request, (passage) => {
        trying = passage
      })
      patience?.cancel()
      if (success) return successReply(success, request)
      report.ended(reply.status)
      client.stopWatching()
      return reply
    } catch (error) {
      throw await failed(error)
    }
  }

  let request: ModelRequest
  try {
    patience = limitPatience(exchange, client, context.clock)
    checkMediaType(exchange)
    const bytes = await client.unlessGone(exchange.body(context.limits.maxBodyBytes))
    const call = parseModelCall(bytes, endpoint, pathModel)
    report.asked(call)
    context.retryBudget.earn()
    context.hedgeBudget.earn()
    request = { exchange, call, format: servedFormat(endpoint), context, report, client, owner: key?.id ?? '' }
  } catch (error) {
    throw await failed(error)
  }
  const answering = answer(request)
  if (!request.call.stream) return await answering // a promise that is returned as it is takes two turns more
  while (!(await settlesWithin(answering, KEEP_ALIVE_MS, context.clock))) {
    if (!trying || trying.isVerbatim) continue // a provider of the client's own format is heard as it is, its status included
    const { signsOfLife } = await import('./signs-of-life.ts')
    return signsOfLife(answering, request, trying)
  }
  return answering
}

type Outcome = { success: Success; reply?: undefined } | { reply: Reply; success?: undefined }

/** Tries one target after the other until one answers, the client is at fault, or the attempts are used up. */
async function walkTargets(request: ModelRequest, onTry: (passage: Passage) => void): Promise<Outcome> {
  const { call, context, report, exchange, client } = request
  let trip: Trip | undefined // most requests come through no group
  const visit: Visit = (group, prospect) => {
    trip ??= context.chooser.tripFor(factsOf(call, (name) => exchange.header(name)))
    return trip.visit(group, prospect)
  }
  try {
    const known = context.routes()
    const table = isPromise(known) ? await client.unlessGone(known) : known
    const routes = routesOf(call.model, { table, visit })
    const itinerary = createItinerary(routes, request)
    for (let leg = await itinerary.next(); leg; leg = await itinerary.next()) {
      onTry(leg.passage)
      const trying = tryFrom(request, leg, itinerary)
      trip?.begun()
      const success = await trying
      if (!success) continue
      if (trip) await trip.answered(success.route)
      return { success }
    }
    const { failures } = itinerary
    const { stop, refusal, dueAt } = itinerary.verdict()
    if (call.endpoint.operation === 'count-tokens' && failures.every(({ failure }) => hasNoCounter(failure))) {
      const { estimateReply } = await import('./estimate.ts')
      return { reply: estimateReply(call, report.steps) }
    }
    if (failures.length === 0 && refusal) throw refusal
    const { finalReply } = await import('./final.ts')
    const now = context.clock.now()
    const course = { failed: failures, steps: report.steps, stop, dueAt, format: request.format, now }
    return { reply: await finalReply(course) }
  } finally {
    trip?.begun()
  }
}

/** Most vendors that follow Anthropic or OpenAI have no such path. */
const hasNoCounter = ({ class: failure, status, upstreamStatus = status }: Failure) =>
  failure === 'client' && (upstreamStatus === 404 || upstreamStatus === 405)

function servedFormat({ format }: Endpoint): Format {
  const served = formatOf(format)
  if (!served) throw gatewayError('NOT_FOUND', { message: `The format "${format}" is not served.` })
  return served
}
