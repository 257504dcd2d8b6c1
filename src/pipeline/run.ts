import { gatewayError, isGatewayError, toGatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import type { Format } from '../formats/format.ts'
import { formatOf } from '../formats/formats.ts'
import { type Awaitable, isPromise } from '../lib/awaitable.ts'
import type { CancelDeadline } from '../lib/deadline.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { settlesWithin } from '../lib/settles-within.ts'
import { timedBody } from '../lib/timed-body.ts'
import type { NextRoute } from '../routing/follow.ts'
import type { Group } from '../routing/group.ts'
import type { RouteTable } from '../routing/table.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { createAttemptPlan } from './attempt-plan.ts'
import { checkMediaType, type ModelCall, parseModelCall } from './call.ts'
import type { Candidate } from './candidate.ts'
import type { Choosing } from './choosing.ts'
import { type Client, TIMEOUT_HEADER, watchClient } from './client.ts'
import type { PipelineContext } from './context.ts'
import type { ModelRequest } from './model-request.ts'
import type { FailedTarget } from './progress.ts'
import { createReport, type Report } from './report.ts'
import type { RequestSelection } from './request-way.ts'
import { KEEP_ALIVE_MS } from './stream-headers.ts'
import { keyFinderFor, successReply } from './success-reply.ts'
import { routesOf } from './targets.ts'
import { tryFrom } from './try-from.ts'

/** One model request, from its exchange to its reply. Throws or rejects with what the client is to read as an error in its own format. */
export function runModelRequest(
  exchange: Exchange,
  endpoint: Endpoint,
  { context, key, pathModel }: RunOptions,
): Promise<Reply> {
  const run = new Run(exchange, key, context)
  return run.reply(endpoint, pathModel)
}

/** What a request comes with, and runs in. */
export interface RunOptions {
  context: PipelineContext
  key?: PresentedKey | undefined
  pathModel?: string | undefined
}

/** One request under way. */
class Run {
  readonly #exchange: Exchange
  readonly #owner: string
  readonly #context: PipelineContext
  readonly #report: Report
  readonly #client: Client
  readonly #isOneTooMany: boolean
  #stopTimeout: CancelDeadline | undefined = undefined
  #trying: Candidate | undefined = undefined
  #selection: RequestSelection | undefined = undefined // from the first group on

  constructor(exchange: Exchange, key: PresentedKey | undefined, context: PipelineContext) {
    this.#exchange = exchange
    this.#owner = key?.id ?? ''
    this.#context = context
    this.#report = createReport(exchange, key, context)
    this.#isOneTooMany = context.inFlight.size >= context.limits.maxConcurrent
    this.#client = watchClient(exchange, context.inFlight, key)
  }

  async reply(endpoint: Endpoint, pathModel: string | undefined): Promise<Reply> {
    const exchange = this.#exchange
    const client = this.#client
    const context = this.#context
    let request: ModelRequest
    try {
      if (this.#isOneTooMany) throw gatewayError('TOO_BUSY', { headers: { 'retry-after': '1' } })
      if (exchange.header(TIMEOUT_HEADER) !== undefined) {
        const { startClientTimeout } = await import('./client-timeout.ts')
        this.#stopTimeout = startClientTimeout(exchange, client, context.clock)
      }
      checkMediaType(exchange)
      const body = timedBody(exchange, { maxBytes: context.limits.maxBodyBytes, time: context.bodyTime })
      const bytes = await client.unlessGone(body)
      request = this.#requestFor(parseModelCall(bytes, endpoint, pathModel))
    } catch (error) {
      throw await this.#failed(error)
    }
    const answering = this.#walkTargets(request)
    if (!request.call.stream) return await answering // a promise that is returned as it is takes two turns more
    while (!(await settlesWithin(answering, KEEP_ALIVE_MS, context.clock))) {
      const trying = this.#trying
      if (!trying || trying.transform.isVerbatim) continue // a provider of the client's own format is heard as it is, its status included
      const { keepAliveReply } = await import('./keep-alive.ts')
      return keepAliveReply(answering, request, trying)
    }
    return await answering
  }

  /** The request of a call that could be read; it earns its part of the budgets. */
  #requestFor(call: ModelCall): ModelRequest {
    const exchange = this.#exchange
    const context = this.#context
    const report = this.#report
    const client = this.#client
    const owner = this.#owner
    report.asked(call)
    context.retryBudget.earn()
    context.hedgeBudget.earn()
    return { exchange, call, format: formatFor(call.endpoint), context, report, client, owner }
  }

  /** Tries one target after the other until one answers, the client is at fault, or the attempts are used up. */
  async #walkTargets(request: ModelRequest): Promise<Reply> {
    const context = this.#context
    const client = this.#client
    let failures = NO_FAILURES
    try {
      const known = context.routes()
      const table = isPromise(known) ? await client.unlessGone(known) : known
      const ruled = context.contextFor(context, request.call.model, table)
      request.context = isPromise(ruled) ? await client.unlessGone(ruled) : ruled
      const routes = routesOf(request.call.model, table, (group) => this.#through(group, request, table))
      const plan = createAttemptPlan(routes, request, (route) => this.#selection?.isPinned(route) ?? false)
      failures = plan.failures
      for (;;) {
        const next = plan.next()
        const candidate = isPromise(next) ? await next : next
        if (!candidate) break
        this.#trying = candidate
        const trying = tryFrom(request, candidate, plan)
        this.#selection?.begun()
        const outcome = await trying
        if (outcome?.kind === 'failure') plan.failed(candidate.route, outcome)
        if (outcome?.kind !== 'success') continue
        if (this.#selection) await this.#selection.answered(outcome.route, plan.unwell())
        this.#stopTimeout?.()
        const finder = keyFinderFor(outcome, context)
        return successReply(outcome, request, isPromise(finder) ? await finder : finder)
      }
      const { nobodyAnswered } = await import('./nobody-answered.ts')
      const reply = await nobodyAnswered(request, plan, this.#selection)
      this.#stopTimeout?.()
      return reply
    } catch (error) {
      throw await this.#failed(error)
    } finally {
      this.#selection?.begun()
      for (const { kept, failure } of failures) kept?.trial.failed(failure) // the client does not get it
    }
  }

  /** The routes of a group, which most requests do not come to. */
  #through(group: Group, request: ModelRequest, table: RouteTable): Awaitable<NextRoute> {
    const choosing = this.#context.choosing()
    const chosen = (loaded: Choosing) => {
      const { routes, selection } = loaded.through(group, request, table)
      this.#selection = selection
      return routes
    }
    return isPromise(choosing) ? choosing.then(chosen) : chosen(choosing)
  }

  /** Nobody answered: what the client is told of it. */
  async #failed(error: unknown): Promise<unknown> {
    const report = this.#report
    const client = this.#client
    this.#stopTimeout?.()
    report.ended(toGatewayError(error).status)
    client.stopWatching()
    if (report.steps.length === 0 || !isGatewayError(error) || SAYS_LITTLE.has(error.status)) return error
    const { withAttempts } = await import('./final.ts')
    return withAttempts(error, report.steps, error === client.gone)
  }
}

const NO_FAILURES: readonly FailedTarget[] = []

/** Nobody reads it, or it is told bare. */
const SAYS_LITTLE: ReadonlySet<number> = new Set([499, 500])

function formatFor({ format: name }: Endpoint): Format {
  const format = formatOf(name)
  void format.loadErrors() // while the provider thinks; who needs it asks again
  return format
}
