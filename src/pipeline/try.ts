import type { Format } from '../formats/format.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { Route, RouteTarget } from '../routing/group.ts'
import type { Trial } from '../routing/health.ts'
import { requestHeaders } from '../upstream/headers.ts'
import { type Ask, upstreamCall } from '../upstream/request.ts'
import { type Answer, type Attempt, type AttemptResult, type FailedAttempt, startAttempt } from './attempt.ts'
import type { ModelCall } from './call.ts'
import { type Client, throwIfGone } from './client.ts'
import type { PipelineContext } from './context.ts'
import { failureOfError, withoutCredential } from './failure.ts'
import type { Report } from './report.ts'

/** One model request on its way. */
export interface Run {
  exchange: Exchange
  call: ModelCall
  format: Format
  context: PipelineContext
  report: Report
  client: Client
}

/** An attempt that has brought an answer; `ended` is to be called when its last byte is out. */
export interface Success {
  kind: 'success'
  route: Route
  answer: Answer
  ended(): void
}

/** A call to one target, with what it means for the target's health and for the report. */
export interface Try {
  /** Rejects when nobody waits for it any more, or the target's credential cannot be opened. */
  result: Promise<Success | FailedAttempt>
  cancel(reason: unknown): void
  /** Another attempt was faster. */
  lose(): void
}

export function tryRoute(run: Run, route: Route): Try {
  const { call, format, context, report, client } = run
  const { target } = route
  const startedAt = context.clock.now()
  const pacing = context.pace.begin(target, call.stream)
  let trial: Trial | undefined
  let attempt: Attempt | undefined
  let isLost = false

  async function callTarget(apiKey: string | undefined): Promise<AttemptResult> {
    try {
      attempt = startAttempt(upstreamCall(target, apiKey, askOf(run, target)), { format, stream: call.stream }, context)
      const result = await attempt.result
      return result.kind === 'failure' ? { ...result, failure: withoutCredential(result.failure, apiKey) } : result
    } catch (thrown) {
      return { kind: 'failure', failure: failureOfError(thrown) }
    }
  }

  async function outcome(): Promise<Success | FailedAttempt> {
    const apiKey = await context.apiKeyOf(target.connection)
    throwIfGone(client)
    trial = context.health.begin(target)
    const result = await callTarget(apiKey)
    if (isLost) throw OUTRUN
    if (client.gone) {
      trial.dropped()
      report.attempted(route, startedAt, { outcome: 'cancelled', status: client.gone.status })
      throw client.gone
    }
    if (result.kind !== 'failure') {
      trial.answered()
      pacing.answeredAfter(context.clock.now() - startedAt)
      report.attempted(route, startedAt, { outcome: 'answered', status: result.head.status })
      return { kind: 'success', route, answer: result, ended: pacing.ended }
    }
    trial.failed(result.failure)
    const { class: outcome, status, upstreamStatus = status, message } = result.failure
    report.attempted(route, startedAt, { outcome, status: upstreamStatus, message })
    return result
  }

  const result = outcome()
  result.then(({ kind }) => kind === 'failure' && pacing.ended(), pacing.ended)
  return {
    result,
    cancel: (reason) => attempt?.cancel(reason),
    lose() {
      isLost = true
      trial?.dropped()
      attempt?.cancel(OUTRUN)
      report.attempted(route, startedAt, { outcome: 'outrun', status: 499 })
    },
  }
}

/** Why a slower attempt ends; nobody hears of it. */
const OUTRUN = Symbol('outrun')

const askOf = ({ exchange, call, format }: Run, target: RouteTarget): Ask => ({
  path: call.endpoint.upstreamPath,
  query: upstreamQuery(exchange.query),
  headers: requestHeaders(exchange, format.defaultHeaders),
  body: call.bodyFor(target.model),
})

/** Of a client's query only what has a meaning to providers goes on. */
const upstreamQuery = (query: string) => (/[?&]beta=true(&|$)/.test(query) ? '?beta=true' : '')
