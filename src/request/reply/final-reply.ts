import { type GatewayError, gatewayError } from '../../errors.ts'
import type { Reply } from '../../lib/exchange.ts'
import type { Endpoint, Format } from '../../protocols/formats/format.ts'
import { getTargetName } from '../../protocols/providers/target.ts'
import type { Failure } from '../codec/call-failure.ts'
import {
  ATTEMPTS_HEADER,
  type AttemptRecord,
  createAttemptHeaders,
  formatTarget,
  hasSameTarget,
  type StepRecord,
  type StopReason,
  shortenConnectionId,
  TARGET_HEADER,
} from '../hook-records.ts'
import type { FailedAttempt } from '../outcome.ts'
import { type FailureClass, failureRules } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'
import { describeOtherKind, getTargetKind } from '../routing/other-kinds.ts'
import { getCallableName, type RouteTable } from '../routing/route-table.ts'
import { createReplyHeaders, findRequestId } from '../upstream/upstream-headers.ts'
import { appendRemark, convertErrorBody, endSentence } from './error-in-format.ts'

/** The facts about a request that got no response. */
export interface FailedRequest {
  failedAttempts: readonly FailedAttempt[]
  steps: readonly StepRecord[]
  stopReason: StopReason | undefined
  /** How long to wait until another request may succeed, in ms, or `undefined` if waiting doesn't help. */
  retryWaitMs: number | undefined
  /** The route table, which resolves model names. */
  table: RouteTable
  endpoint: Endpoint
  /** The client's format. */
  format: Format
  /** Epoch ms. */
  now: number
}

/**
 * Creates the reply if all attempts have failed. After a single attempt, or if the client is at fault, it is the provider's own error, converted to
 * the client's format. Otherwise, or if the provider sent no error body, rejects with an error that reports each attempt. If a prompt was too long,
 * that message comes first, because clients use it to shorten the prompt; the other failures follow it.
 */
export async function createFinalReply(request: FailedRequest): Promise<Reply> {
  const { failedAttempts, format, now, table } = request
  const decisiveAttempt =
    failedAttempts.length === 1 ? failedAttempts[0] : failedAttempts.findLast(({ failure }) => isClientFault(failure))
  const headers = createHeaders(request, decisiveAttempt)
  const remark = [describeAttempts(request, decisiveAttempt), await describeKind(request, decisiveAttempt)]
    .filter(Boolean)
    .join(' ')
  if (!decisiveAttempt?.head || !decisiveAttempt.failure.body)
    throw createExhaustedError(request, { decisive: decisiveAttempt, headers, remark })
  const { failure, head, route } = decisiveAttempt
  const replyHeaders = failure.headers ?? createReplyHeaders(head, 'application/json')
  if (!isClientFault(failure)) for (const name of WAIT_HEADERS) delete replyHeaders[name]
  const { status, body } = await convertErrorBody(failure, head, { format, now, remark })
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...replyHeaders,
      [TARGET_HEADER]: formatTarget({ provider: getCallableName(route.target, table), model: route.target.model }),
      ...headers,
      ...NO_RETRY_HEADERS,
    },
    body,
  }
}

/** Adds the attempts header to the error. If the client's timeout has expired, the message also describes each attempt. */
export function addAttemptsHeader(
  error: GatewayError,
  steps: readonly StepRecord[],
  isOutOfTime: boolean,
): GatewayError {
  const { code, status, data, cause } = error
  const message = isOutOfTime ? [error.message, ...listMessages(steps)].join(' ') : error.message
  return gatewayError(code, {
    status,
    data,
    cause,
    message,
    headers: { ...createAttemptHeaders(steps), ...error.headers },
  })
}

/** Returns whether only the client can fix the cause. */
const isClientFault = (failure: Failure) => failureRules[failure.class].fault === 'client'

/** Keeps SDKs from retrying, because the gateway has already retried where it helps. */
const NO_RETRY_HEADERS = { 'x-should-retry': 'false' }

/** Headers of the provider that the gateway replaces with its own. */
const WAIT_HEADERS = ['retry-after', 'retry-after-ms']

/** Creates the gateway's own headers: the attempts, when to retry, and the provider's request ID if the reply is about a single failure. */
function createHeaders(
  { steps, stopReason, retryWaitMs, format }: FailedRequest,
  decisiveAttempt: FailedAttempt | undefined,
) {
  const headers = createAttemptHeaders(steps)
  if (stopReason) headers[ATTEMPTS_HEADER] += `, stopped=${stopReason}`
  if (retryWaitMs !== undefined) headers['retry-after'] = String(roundToSeconds(retryWaitMs))
  const requestId = decisiveAttempt?.head && findRequestId(decisiveAttempt.head, format.requestIdHeader)
  return requestId === undefined ? headers : { ...headers, [format.requestIdHeader]: requestId }
}

/** Rounds up to whole seconds, from one to a minute. */
const roundToSeconds = (ms: number) => Math.max(1, Math.min(60, Math.ceil(ms / 1000)))

/**
 * Describes the gateway's additions to an error: how other targets failed for a reason other than the prompt's length, and why there were no more
 * attempts.
 */
function describeAttempts(
  { failedAttempts, steps, stopReason }: FailedRequest,
  decisiveAttempt: FailedAttempt | undefined,
): string {
  const isOverflow = decisiveAttempt?.failure.class === 'context-overflow'
  const isMixed = isOverflow && failedAttempts.some(({ failure }) => failure.class !== 'context-overflow')
  const otherFailures = isMixed ? ['All other targets failed.', ...listMessages(steps, decisiveAttempt.route)] : []
  return [...otherFailures, ...(stopReason ? [STOP_DETAILS[stopReason]] : [])].join(' ')
}

/** Describes the model's kind if it isn't the endpoint's, which may be why the provider rejected the request. */
async function describeKind(
  { failedAttempts, table, endpoint }: FailedRequest,
  decisiveAttempt: FailedAttempt | undefined,
): Promise<string> {
  const describedAttempt = decisiveAttempt ?? failedAttempts[0]
  if (!describedAttempt || !MODEL_FAILURES.has(describedAttempt.failure.class)) return ''
  const { target } = describedAttempt.route
  return describeOtherKind(getTargetName(target), await getTargetKind(target, table), endpoint)
}

const MODEL_FAILURES: ReadonlySet<FailureClass> = new Set(['client', 'forbidden', 'model-not-found'])

const STOP_DETAILS: Record<StopReason, string> = {
  'max-attempts': 'No other target was tried because the request had no attempts left (limits.maxAttempts).',
  'retry-budget': "No further attempt was made because the gateway's retry budget is used up.",
}

function createExhaustedError(
  { failedAttempts, steps }: FailedRequest,
  {
    decisive: decisiveAttempt,
    headers,
    remark,
  }: { decisive: FailedAttempt | undefined; headers: Record<string, string>; remark: string },
): GatewayError {
  const failures = (decisiveAttempt ? [decisiveAttempt] : failedAttempts).map(({ failure }) => failure)
  const allFailedWith = (failureClass: FailureClass) => failures.every((failure) => failure.class === failureClass)
  const code = allFailedWith('timeout')
    ? 'UPSTREAM_TIMEOUT'
    : allFailedWith('context-overflow')
      ? 'CONTEXT_OVERFLOW'
      : 'UPSTREAM_FAILED'
  const [firstStatus, ...otherStatuses] = failures.map(({ status }) => status)
  const status =
    firstStatus !== undefined && otherStatuses.every((status) => status === firstStatus) ? firstStatus : 502
  const summary = [`All ${failures.length} targets failed.`, ...listMessages(steps)].join(' ')
  return gatewayError(code, {
    status,
    message: appendRemark(decisiveAttempt?.failure.message ?? summary, remark),
    headers,
  })
}

/** Lists each attempt's message, except those at the target of `excludedRoute`. */
const listMessages = (steps: readonly StepRecord[], excludedRoute?: Route): string[] =>
  steps.flatMap((step) => {
    if (!('outcome' in step) || (excludedRoute && usesSameTarget(step, excludedRoute))) return []
    const { provider, model, outcome } = step
    const message = outcome === 'cancelled' ? 'No response yet.' : step.message?.slice(0, 300)
    if (message === undefined) return []
    const connection = hasSameTarget(step, steps) ? ` (connection ${shortenConnectionId(step)})` : ''
    return [`${provider}/${model}${connection}: ${endSentence(message)}`]
  })

const usesSameTarget = ({ connectionId, model }: AttemptRecord, { target }: Route) =>
  connectionId === target.connection.id && model === target.model
