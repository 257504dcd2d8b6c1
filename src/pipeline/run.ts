import { isGatewayError, toGatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import type { Format } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import { isPromise } from '../lib/awaitable.ts'
import type { Deadline } from '../lib/deadline.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import type { Select } from '../routing/select.ts'
import { viaOf } from '../routing/via.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { createAttemptPlan } from './attempt-plan.ts'
import { checkMediaType, parseModelCall } from './call.ts'
import type { Candidate } from './candidate.ts'
import type { Choosing, RequestSelection } from './choosing.ts'
import { TIMEOUT_HEADER, watchClient } from './client.ts'
import type { PipelineContext } from './context.ts'
import type { ModelRequest } from './model-request.ts'
import type { FailedTarget } from './progress.ts'
import { createReport } from './report.ts'
import { KEEP_ALIVE_MS } from './stream-headers.ts'
import { successReply } from './success-reply.ts'
import { routesOf, type Way } from './targets.ts'
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
  let clientTimeout: Deadline | undefined
  let trying: Candidate | undefined

  /** Nobody answered: what the client is told of it. */
  async function failed(error: unknown): Promise<unknown> {
    clientTimeout?.cancel()
    report.ended(toGatewayError(error).status)
    client.stopWatching()
    if (report.steps.length === 0 || !isGatewayError(error) || SAYS_LITTLE.has(error.status)) return error
    const { withAttempts } = await import('./final.ts')
    return withAttempts(error, report.steps, error === client.gone)
  }

  async function answer(request: ModelRequest): Promise<Reply> {
    try {
      const { success, reply } = await walkTargets(request, (candidate) => {
        trying = candidate
      })
      clientTimeout?.cancel()
      return success ? successReply(success, request) : reply
    } catch (error) {
      throw await failed(error)
    }
  }

  let request: ModelRequest
  try {
    if (exchange.header(TIMEOUT_HEADER) !== undefined) {
      const { startClientTimeout } = await import('./client-timeout.ts')
      clientTimeout = startClientTimeout(exchange, client, context.clock)
    }
    checkMediaType(exchange)
    const bytes = await client.unlessGone(exchange.body(context.limits.maxBodyBytes))
    const call = parseModelCall(bytes, endpoint, pathModel)
    report.asked(call)
    context.retryBudget.earn()
    context.hedgeBudget.earn()
    request = { exchange, call, format: formatFor(endpoint), context, report, client, owner: key?.id ?? '' }
  } catch (error) {
    throw await failed(error)
  }
  const answering = answer(request)
  if (!request.call.stream) return await answering // a promise that is returned as it is takes two turns more
  while (!(await settlesWithin(answering, KEEP_ALIVE_MS, context.clock))) {
    if (!trying || trying.transform.isVerbatim) continue // a provider of the client's own format is heard as it is, its status included
    const { keepAliveReply } = await import('./keep-alive.ts')
    return keepAliveReply(answering, request, trying)
  }
  return answering
}

/** Nobody reads it, or it is told bare. */
const SAYS_LITTLE: ReadonlySet<number> = new Set([499, 500])

type Outcome = { success: Success; reply?: undefined } | { reply: Reply; success?: undefined }

/** Tries one target after the other until one answers, the client is at fault, or the attempts are used up. */
async function walkTargets(request: ModelRequest, onTry: (candidate: Candidate) => void): Promise<Outcome> {
  const { call, context, report, client } = request
  let failures: readonly FailedTarget[] = []
  let selection: RequestSelection | undefined // most requests come through no group
  const selectionBy = (choosing: Choosing) => {
    selection ??= choosing.selectionFor(request)
    return selection
  }
  const select: Select = (group, lookahead) => {
    if (selection) return selection.select(group, lookahead)
    const choosing = context.choosing()
    if (!isPromise(choosing)) return selectionBy(choosing).select(group, lookahead)
    return choosing.then((loaded) => selectionBy(loaded).select(group, lookahead))
  }
  const onLeftOut: Way['onLeftOut'] = ({ name, when }, way) =>
    report.leftOut(name, `when.${when && selection?.unmet(when)}`, viaOf(way))
  const onDeadEnd: Way['onDeadEnd'] = ({ name }, way) => report.leftOut(name, 'unreachable', viaOf(way))
  try {
    const known = context.routes()
    const table = isPromise(known) ? await client.unlessGone(known) : known
    const routes = routesOf(call.model, { table, select, onLeftOut, onDeadEnd })
    const plan = createAttemptPlan(routes, request)
    failures = plan.failures
    for (let candidate = await plan.next(); candidate; candidate = await plan.next()) {
      onTry(candidate)
      const trying = tryFrom(request, candidate, plan)
      selection?.begun()
      const success = await trying
      if (!success) continue
      if (selection) await selection.answered(success.route, plan.unwell())
      return { success }
    }
    const { nobodyAnswered } = await import('./nobody-answered.ts')
    return { reply: await nobodyAnswered(request, plan, selection) }
  } finally {
    selection?.begun()
    for (const { kept, failure } of failures) kept?.trial.failed(failure) // the client does not get it
  }
}

function formatFor({ format: name }: Endpoint): Format {
  const format = formatOf(name)
  void format.loadErrors() // while the provider thinks; who needs it asks again
  return format
}
