import { gatewayError, isGatewayError, toGatewayError } from '../errors.ts'
import type { Format } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import type { Deadline } from '../lib/deadline.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { contextWindowOf } from '../providers/names.ts'
import type { RouteTarget } from '../routing/table.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { replyHeaders, requestHeaders } from '../upstream/headers.ts'
import { type Ask, upstreamCall } from '../upstream/request.ts'
import { type Answer, type AttemptResult, type FailedAttempt, startAttempt } from './attempt.ts'
import { checkMediaType, type ModelCall, parseModelCall } from './call.ts'
import { type Client, throwIfGone, watchClient } from './client.ts'
import type { PipelineContext } from './context.ts'
import type { Endpoint } from './endpoints.ts'
import { failureOfError, withoutCredential } from './failure.ts'
import { finalReply } from './final.ts'
import { journeyHeaders } from './journey.ts'
import { limitPatience } from './patience.ts'
import { relayStream } from './relay.ts'
import { createReport, type Report } from './report.ts'
import { targetsOf } from './targets.ts'
import { unknownModel } from './unknown-model.ts'

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
    const format = servedFormat(endpoint)
    const { answer, target, reply } = await walkTargets({ exchange, call, format, context, report, client })
    if (reply) {
      report.ended(reply.status)
      client.stopWatching()
      return reply
    }
    return toReply(answer, { target, format, report, client })
  } catch (error) {
    report.ended(toGatewayError(error).status)
    client.stopWatching()
    throw error
  } finally {
    patience?.cancel()
  }
}

interface Run {
  exchange: Exchange
  call: ModelCall
  format: Format
  context: PipelineContext
  report: Report
  client: Client
}

type Outcome =
  | { answer: Answer; target: RouteTarget; reply?: undefined }
  | { reply: Reply; answer?: undefined; target?: undefined }

/**
 * Tries one target after the other until one answers, the client is at fault, or the attempts are used up. Targets that are cooling are
 * passed over; when all are, the one that recovers first is tried rather than none.
 */
async function walkTargets(run: Run): Promise<Outcome> {
  const { call, context, report } = run
  const { health, limits, retryBudget } = context
  const failures: FailedAttempt[] = []
  let soonest: { target: RouteTarget; retryAt: number } | undefined
  let window = 0 // what the request did not fit into
  let isSpent = false
  const table = await context.routes()
  if (!table.resolve(call.model)) throw await unknownModel(call.model, table)
  for (const target of targetsOf(call, table)) {
    if (failures.length >= limits.maxAttempts) break
    const standing = health.standingOf(target)
    if (standing) {
      report.skipped(target, standing.class)
      if (!soonest || standing.retryAt < soonest.retryAt) soonest = { target, retryAt: standing.retryAt }
      continue
    }
    if (window > 0 && !(contextWindowOf(context.catalog, target) > window)) {
      report.skipped(target, 'context-overflow')
      continue
    }
    isSpent = failures.length > 0 && !retryBudget.spend()
    if (isSpent) break
    const result = await tryTarget(run, target)
    if (result.kind !== 'failure') return { answer: result, target }
    failures.push(result)
    if (result.failure.class === 'client') break
    if (result.failure.class === 'context-overflow')
      window = contextWindowOf(context.catalog, target) || Number.POSITIVE_INFINITY
  }
  if (failures.length === 0 && soonest) {
    const { target } = soonest
    const result = await tryTarget(run, target)
    if (result.kind !== 'failure') return { answer: result, target }
    failures.push(result)
  }
  return { reply: finalReply(failures, { attempts: report.attempts, steps: report.steps, isSpent }) }
}

async function tryTarget(run: Run, target: RouteTarget): Promise<AttemptResult> {
  const { call, format, context, report, client } = run
  const apiKey = await context.apiKeyOf(target.connection)
  throwIfGone(client)
  const startedAt = context.clock.now()
  const trial = context.health.begin(target)
  let result: AttemptResult
  try {
    const attempt = startAttempt(
      upstreamCall(target, apiKey, askOf(run, target)),
      { format, stream: call.stream },
      context,
    )
    client.follows(attempt)
    result = await attempt.result
  } catch (thrown) {
    result = { kind: 'failure', failure: failureOfError(thrown) }
  }
  if (client.gone) {
    trial.dropped()
    report.attempted(target, startedAt, { outcome: 'cancelled', status: client.gone.status })
    throw client.gone
  }
  if (result.kind !== 'failure') {
    trial.answered()
    report.attempted(target, startedAt, { outcome: 'answered', status: result.head.status })
    return result
  }
  const failure = withoutCredential(result.failure, apiKey)
  trial.failed(failure)
  const { class: outcome, status, upstreamStatus = status, message } = failure
  report.attempted(target, startedAt, { outcome, status: upstreamStatus, message })
  return { ...result, failure }
}

const askOf = ({ exchange, call, format }: Run, target: RouteTarget): Ask => ({
  path: call.endpoint.upstreamPath,
  query: upstreamQuery(exchange.query),
  headers: requestHeaders(exchange, format.defaultHeaders),
  body: call.bodyFor(target.model),
})

function toReply(
  answer: Answer,
  { target, format, report, client }: { target: RouteTarget } & Pick<Run, 'format' | 'report' | 'client'>,
): Reply {
  const mediaType = answer.kind === 'whole' ? 'application/json' : 'text/event-stream'
  const headers = Object.assign(replyHeaders(answer.head, mediaType), journeyHeaders(report.steps))
  const status = SAYS_NOTHING.has(answer.head.status) ? 200 : answer.head.status
  if (answer.kind === 'whole') {
    client.stopWatching()
    report.ended(status, target, answer.usage)
    return { status, headers, body: answer.bytes }
  }
  const body = relayStream(answer.body, answer.committed, {
    format,
    onEnd({ usage, error, cancelled }) {
      client.stopWatching()
      report.ended(cancelled ? 499 : (error?.status ?? status), target, usage)
    },
  })
  client.follows({ cancel: (reason) => (isGatewayError(reason, 'CLOSED') ? body.fail(reason) : body.cancel(reason)) })
  return { status, headers: { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no', ...headers }, body }
}

/** Statuses that no answer with a body can have. */
const SAYS_NOTHING = new Set([204, 205])

/** Of a client's query only what has a meaning to providers goes on. */
const upstreamQuery = (query: string) => (/[?&]beta=true(&|$)/.test(query) ? '?beta=true' : '')

function servedFormat({ format }: Endpoint): Format {
  const served = formatOf(format)
  if (!served) throw gatewayError('NOT_FOUND', { message: `The format "${format}" is not served.` })
  return served
}
