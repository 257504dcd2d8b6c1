import { gatewayError, isGatewayError, toGatewayError } from '../errors.ts'
import type { Format } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import type { Deadline } from '../lib/deadline.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { replyHeaders } from '../upstream/headers.ts'
import { checkMediaType, parseModelCall } from './call.ts'
import { watchClient } from './client.ts'
import type { PipelineContext } from './context.ts'
import type { Endpoint } from './endpoints.ts'
import { factsOf } from './facts.ts'
import { finalReply } from './final.ts'
import { tryFrom } from './hedge.ts'
import { createItinerary } from './itinerary.ts'
import { journeyHeaders } from './journey.ts'
import { limitPatience } from './patience.ts'
import { relayStream } from './relay.ts'
import { createReport } from './report.ts'
import { routesOf } from './targets.ts'
import type { Run, Success } from './try.ts'

/** One model request, from its exchange to its reply. Throws what the client is to read as an error in its own format. */
export async function runModelRequest(
  exchange: Exchange,
  endpoint: Endpoint,
  { context, key }: { context: PipelineContext; key: PresentedKey | undefined },
): Promise<Reply> {
  const report = createReport(exchange, key, context)
  const client = watchClient(exchange, context.inFlight)
  let patience: Deadline | undefined
  try {
    patience = limitPatience(exchange, client, context.clock)
    checkMediaType(exchange)
    const call = parseModelCall(await client.unlessGone(exchange.body(context.limits.maxBodyBytes)), endpoint)
    report.asked(call)
    context.retryBudget.earn()
    context.hedgeBudget.earn()
    const format = servedFormat(endpoint)
    const { success, reply } = await walkTargets({ exchange, call, format, context, report, client })
    if (success) return toReply(success, { format, report, client })
    report.ended(reply.status)
    client.stopWatching()
    return reply
  } catch (error) {
    report.ended(toGatewayError(error).status)
    client.stopWatching()
    throw error
  } finally {
    patience?.cancel()
  }
}

type Outcome = { success: Success; reply?: undefined } | { reply: Reply; success?: undefined }

/** Tries one target after the other until one answers, the client is at fault, or the attempts are used up. */
async function walkTargets(run: Run): Promise<Outcome> {
  const { call, context, report, exchange } = run
  const trip = context.chooser.tripFor(factsOf(call, (name) => exchange.header(name)))
  try {
    const routes = routesOf(call, { table: await context.routes(), visit: trip.visit })
    const itinerary = createItinerary(routes, { context, report })
    for (let route = await itinerary.next(); route; route = await itinerary.next()) {
      const trying = tryFrom(run, route, itinerary)
      trip.begun()
      const success = await trying
      if (!success) continue
      await trip.answered(success.route)
      return { success }
    }
    const { failures, isSpent } = itinerary
    return { reply: finalReply(failures, { attempts: report.attempts, steps: report.steps, isSpent }) }
  } finally {
    trip.begun()
  }
}

function toReply(
  { answer, route: { target }, ended }: Success,
  { format, report, client }: Pick<Run, 'format' | 'report' | 'client'>,
): Reply {
  const mediaType = answer.kind === 'whole' ? 'application/json' : 'text/event-stream'
  const headers = Object.assign(replyHeaders(answer.head, mediaType), journeyHeaders(report.steps))
  const status = SAYS_NOTHING.has(answer.head.status) ? 200 : answer.head.status
  if (answer.kind === 'whole') {
    ended()
    client.stopWatching()
    report.ended(status, target, answer.usage)
    return { status, headers, body: answer.bytes }
  }
  const body = relayStream(answer.body, answer.committed, {
    format,
    onEnd({ usage, error, cancelled }) {
      ended()
      client.stopWatching()
      report.ended(cancelled ? 499 : (error?.status ?? status), target, usage)
    },
  })
  client.follows({ cancel: (reason) => (isGatewayError(reason, 'CLOSED') ? body.fail(reason) : body.cancel(reason)) })
  return { status, headers: { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no', ...headers }, body }
}

/** Statuses that no answer with a body can have. */
const SAYS_NOTHING = new Set([204, 205])

function servedFormat({ format }: Endpoint): Format {
  const served = formatOf(format)
  if (!served) throw gatewayError('NOT_FOUND', { message: `The format "${format}" is not served.` })
  return served
}
