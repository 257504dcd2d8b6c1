import { type GatewayError, gatewayError } from '../errors.ts'
import type { Format } from '../formats/format.ts'
import { readError } from '../formats/read-error.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import type { Reply, UpstreamAnswer } from '../lib/exchange.ts'
import { tryParseJson } from '../lib/json.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import { replyHeaders } from '../upstream/headers.ts'
import { requestIdHeader } from '../upstream/request-id.ts'
import type { FailedTarget } from './attempt-plan.ts'
import { attemptHeaders, isOneOfMany, type Step, shortId, targetHeader } from './attempt-record.ts'
import type { Failure } from './failure.ts'

/** Why no other target was tried though there was one. */
export type Stop = 'max-attempts' | 'retry-budget'

/** The course of a request that no target has answered. */
export interface Course {
  failed: readonly FailedTarget[]
  steps: readonly Step[]
  stop: Stop | undefined
  /** When the first cooling target recovers; epoch ms. */
  dueAt: number | undefined
  /** The client's. */
  format: Format
  /** Epoch ms. */
  now: number
}

/**
 * The reply when all attempts have failed. After a single attempt, or when the client is at fault, it is the provider's own error, put into
 * the client's format if it is in another. Otherwise, and when the provider sent no error body, rejects with an error that reports each
 * attempt.
 */
export async function finalReply(course: Course): Promise<Reply> {
  const { failed } = course
  const decisive = failed.length === 1 ? failed[0] : failed.findLast(({ failure }) => isOfClient(failure))
  const failures = decisive ? [decisive.failure] : failed.map(({ failure }) => failure)
  const id = decisive?.head ? requestIdHeader(decisive.head.header, course.format.name) : {}
  const headers = { ...headersOf(failures, course), ...id }
  if (!decisive?.head || !decisive.failure.body) throw exhausted(failures, { ...course, headers })
  const { failure, head, route } = decisive
  const said = failure.headers ?? replyHeaders(head, 'application/json')
  if (!isOfClient(failure)) for (const name of WAITS) delete said[name]
  return {
    status: failure.status,
    headers: { 'content-type': 'application/json', ...said, ...targetHeader(route.target), ...headers, ...NO_RETRY },
    body: await inFormat(failure, head, course),
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

/** The header of attempts and, unless the client is at fault, `retry-after`: the shortest wait. */
function headersOf(failures: readonly Failure[], { steps, stop, dueAt, now }: Course): Record<string, string> {
  const headers = attemptHeaders(steps)
  if (stop) headers['x-signalbox-attempts'] += `, stopped=${stop}`
  if (failures.some(isOfClient)) return headers
  const waits = failures.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs]))
  if (dueAt !== undefined && failures.length > 0) waits.push(dueAt - now)
  if (waits.length > 0) headers['retry-after'] = String(secondsOf(Math.min(...waits)))
  return headers
}

/** Whole seconds, from one to a minute. */
const secondsOf = (ms: number) => Math.max(1, Math.min(60, Math.ceil(ms / 1000)))

/** The provider's error body, put into the client's format unless its clients can read it as it is. */
async function inFormat({ body, status }: Failure, head: UpstreamAnswer, { format, now }: Course): Promise<Uint8Array> {
  const bytes = body ?? new Uint8Array(0)
  const text = decodeUtf8Lenient(bytes)
  const json = tryParseJson(text)
  const { isReadable } = await format.loadErrors()
  const translator = isReadable(json) ? undefined : await format.loadTranslator?.()
  if (!translator) return bytes
  const isKnown = readError(format.name, json).message !== undefined
  const error = translator.parseError({ status, body: isKnown ? json : text, header: (name) => head.header(name), now })
  return encodeUtf8(JSON.stringify(translator.writeError(error).body))
}

function exhausted(
  failures: readonly Failure[],
  { steps, stop, headers }: Course & { headers: Record<string, string> },
): GatewayError {
  const [only] = failures
  const are = (what: FailureClass) => failures.every((failure) => failure.class === what)
  const code = are('timeout') ? 'UPSTREAM_TIMEOUT' : are('context-overflow') ? 'CONTEXT_OVERFLOW' : 'UPSTREAM_FAILED'
  const message =
    failures.length === 1 && only
      ? [only.message]
      : [`None of the ${failures.length} targets answered.`, ...saidIn(steps)]
  if (stop) message.push(STOPS[stop])
  return gatewayError(code, { status: commonStatus(failures), message: message.join(' '), headers })
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

/** A message of a provider with a full stop, so that others can follow. */
const sentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** The message of each attempt. */
const saidIn = (steps: readonly Step[]): string[] =>
  steps.flatMap((step) => {
    if (!('outcome' in step)) return []
    const { provider, model, outcome, message } = step
    const said = outcome === 'cancelled' ? 'Had not answered yet.' : message?.slice(0, 300)
    if (said === undefined) return []
    const connection = isOneOfMany(step, steps) ? ` (connection ${shortId(step)})` : ''
    return [`${provider}/${model}${connection}: ${sentence(said)}`]
  })
