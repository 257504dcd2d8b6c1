import { type GatewayError, gatewayError } from '../errors.ts'
import type { Format } from '../formats/format.ts'
import type { Reply } from '../lib/exchange.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'
import { replyHeaders } from '../upstream/headers.ts'
import { requestIdHeader } from '../upstream/request-id.ts'
import type { FailedTarget } from './attempt-plan.ts'
import { type AttemptRecord, attemptHeaders, isOneOfMany, type Step, shortId, targetHeader } from './attempt-record.ts'
import { errorInFormat, joined, sentence } from './error-in-format.ts'
import type { Failure } from './failure.ts'

/** Why no other target was tried though there was one. */
export type Stop = 'max-attempts' | 'retry-budget'

/** The course of a request that no target has answered. */
export interface Course {
  failed: readonly FailedTarget[]
  steps: readonly Step[]
  stop: Stop | undefined
  /** When the first target that was passed over recovers; epoch ms. */
  dueAt: number | undefined
  /** When another request would come to a target that no attempt was left for; epoch ms. */
  untriedAt: number | undefined
  /** When the targets that have failed recover, where they are cooling and time helps; epoch ms. */
  recoveries: readonly number[]
  /** The client's. */
  format: Format
  /** Epoch ms. */
  now: number
}

/**
 * The reply when all attempts have failed. After a single attempt, or when the client is at fault, it is the provider's own error, put into
 * the client's format if it is in another. Otherwise, and when the provider sent no error body, rejects with an error that reports each
 * attempt. A prompt that was too long keeps its words, by which clients know to shorten it, and the other failures follow them.
 */
export async function finalReply(course: Course): Promise<Reply> {
  const { failed, format, now, stop } = course
  const decisive = failed.length === 1 ? failed[0] : failed.findLast(({ failure }) => isOfClient(failure))
  const isAlone = failed.every(({ failure }) => failure.class === decisive?.failure.class)
  const isMixed = decisive?.failure.class === 'context-overflow' && !isAlone
  const all = failed.map(({ failure }) => failure)
  const failures = decisive ? [decisive.failure] : all
  const id = decisive?.head ? requestIdHeader(decisive.head.header, course.format.requestIdHeader) : {}
  const headers = { ...headersOf(isMixed ? all : failures, course), ...id }
  const others = isMixed ? ['No other target answered.', ...saidIn(course.steps, decisive.route)] : []
  const words = [...others, ...(stop ? [STOPS[stop]] : [])].join(' ')
  if (!decisive?.head || !decisive.failure.body) throw exhausted(failures, { ...course, headers, words })
  const { failure, head, route } = decisive
  const said = failure.headers ?? replyHeaders(head, 'application/json')
  if (!isOfClient(failure)) for (const name of WAITS) delete said[name]
  return {
    status: failure.status,
    headers: { 'content-type': 'application/json', ...said, ...targetHeader(route.target), ...headers, ...NO_RETRY },
    body: await errorInFormat(failure, head, { format, now, words }),
  }
}

/** The error with the header of attempts; when the client's time-out is over, its message also says what each attempt did. */
export function withAttempts(error: GatewayError, steps: readonly Step[], isOutOfTime: boolean): GatewayError {
  const { code, status, data, cause } = error
  const message = isOutOfTime ? [error.message, ...saidIn(steps)].join(' ') : error.message
  return gatewayError(code, { status, data, cause, message, headers: { ...attemptHeaders(steps), ...error.headers } })
}

/** Can only the client fix it? */
const isOfClient = (failure: Failure) => failure.class === 'client' || failure.class === 'context-overflow'

/** SDKs are told not to retry: the gateway has done so where it helps. */
const NO_RETRY = { 'x-should-retry': 'false' }

/** Headers of the provider that the gateway's own replace. */
const WAITS = ['retry-after', 'retry-after-ms']

/** The header of attempts and, unless only the client can fix it, `retry-after`: the shortest wait that is of use. */
function headersOf(
  failures: readonly Failure[],
  { steps, stop, dueAt, untriedAt, recoveries, now }: Course,
): Record<string, string> {
  const headers = attemptHeaders(steps)
  if (stop) headers['x-signalbox-attempts'] += `, stopped=${stop}`
  if (failures.every(isOfClient)) return headers
  const waits = failures.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))
  if (dueAt !== undefined && failures.length > 0) waits.push(dueAt - now)
  if (untriedAt !== undefined) waits.push(untriedAt - now)
  if (stop === 'retry-budget') waits.push(BUDGET_MS)
  if (waits.length === 0) waits.push(...recoveries.map((at) => at - now))
  if (waits.length > 0) headers['retry-after'] = String(secondsOf(Math.min(...waits)))
  return headers
}

/** The retry budget is renewed each second. */
const BUDGET_MS = 1_000

/** Whole seconds, from one to a minute. */
const secondsOf = (ms: number) => Math.max(1, Math.min(60, Math.ceil(ms / 1000)))

function exhausted(
  failures: readonly Failure[],
  { steps, headers, words }: Course & { headers: Record<string, string>; words: string },
): GatewayError {
  const [only] = failures
  const are = (what: FailureClass) => failures.every((failure) => failure.class === what)
  const code = are('timeout') ? 'UPSTREAM_TIMEOUT' : are('context-overflow') ? 'CONTEXT_OVERFLOW' : 'UPSTREAM_FAILED'
  const message =
    failures.length === 1 && only
      ? only.message
      : [`None of the ${failures.length} targets answered.`, ...saidIn(steps)].join(' ')
  return gatewayError(code, {
    status: commonStatus(failures),
    message: words ? joined(message, words) : message,
    headers,
  })
}

const STOPS: Record<Stop, string> = {
  'max-attempts': 'No other target was tried: a request has no more attempts (limits.maxAttempts).',
  'retry-budget': 'No further attempt was made: the retry budget of the gateway is used up.',
}

/** The status that all attempts share, otherwise 502. */
function commonStatus(failures: readonly Failure[]): number {
  const [first, ...rest] = failures.map((failure) => failure.status)
  return first !== undefined && rest.every((status) => status === first) ? first : 502
}

/** The message of each attempt, but of those at the target of `except`. */
const saidIn = (steps: readonly Step[], except?: Route): string[] =>
  steps.flatMap((step) => {
    if (!('outcome' in step) || (except && isAt(step, except))) return []
    const { provider, model, outcome, message } = step
    const said = outcome === 'cancelled' ? 'Had not answered yet.' : message?.slice(0, 300)
    if (said === undefined) return []
    const connection = isOneOfMany(step, steps) ? ` (connection ${shortId(step)})` : ''
    return [`${provider}/${model}${connection}: ${sentence(said)}`]
  })

const isAt = ({ connectionId, model }: AttemptRecord, { target }: Route) =>
  connectionId === target.connection.id && model === target.model
