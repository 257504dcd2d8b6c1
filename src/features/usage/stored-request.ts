import { fromNanoUsd, toNanoUsd } from '../../lib/usd.ts'
import type { AttemptRecord, StepRecord } from '../../request/hook-records.ts'
import type { RequestEnding, RequestLog } from '../../request/request-log.ts'
import {
  formatIsoTime,
  getDefaultServedBy,
  OPTIONAL_COUNTS,
  type StoredAttempt,
  type StoredRequest,
  type StoredSkip,
  sumUsageCosts,
} from './request-record.ts'

const MAX_LIST_LENGTH = 20
const MAX_MESSAGE_LENGTH = 200
const MAX_REASON_LENGTH = 300
const MAX_NAME_LENGTH = 512

/** Creates a request's record. It contains nothing from prompts or responses. */
export function createStoredRequest(log: RequestLog, ending: RequestEnding & { durationMs: number }): StoredRequest {
  const { startedAt, route, caller, model, steps, warnings } = log
  const { key, account, token } = caller
  const { durationMs, status, end, error } = ending
  const attempts: StoredAttempt[] = []
  const skipped: StoredSkip[] = []
  let message: string | undefined
  let firstByteMs: number | undefined
  let promptCache: StoredRequest['promptCache']
  for (const step of steps) {
    if (!('outcome' in step)) {
      if (skipped.length < MAX_LIST_LENGTH) skipped.push(createStoredSkip(step))
      continue
    }
    message = step.message ?? message
    promptCache = step.promptCache ?? promptCache
    if (step.outcome === 'answered') firstByteMs = step.startedAt - startedAt + step.durationMs
    // List every attempt with usage, because the request's usage is the sum of its attempts.
    if (step.usage || attempts.length < MAX_LIST_LENGTH) attempts.push(createStoredAttempt(step, startedAt))
  }
  const totalCost = sumUsageCosts(attempts)
  const request: StoredRequest = {
    id: log.id,
    time: formatIsoTime(startedAt),
    endpoint: route.path,
    ...(route.operation.kind && { format: route.format }),
    streamed: log.streamed,
    attempts,
    durationMs,
    status,
    end,
    tokens: totalCost.tokens,
  }
  if (totalCost.units) request.units = totalCost.units
  if (totalCost.costUsd !== undefined) request.costUsd = totalCost.costUsd
  if (totalCost.costSource) request.costSource = totalCost.costSource
  if (key) {
    request.keyId = key.id
    if (key.group) request.groupId = key.group.id
  }
  if (account) {
    request.account = account.ref
    if (token) request.tokenId = token.id
  }
  const tags = log.tags ?? account?.tags
  if (tags) request.tags = tags
  if (key?.metadata ?? account?.metadata) request.metadata = { ...account?.metadata, ...key?.metadata }
  if (log.user !== undefined) request.user = log.user
  if (model !== undefined) request.model = truncate(model, MAX_NAME_LENGTH)
  const target = getTarget(log, attempts)
  if (target) request.target = target
  if (skipped.length > 0) request.skipped = skipped
  if (firstByteMs !== undefined && log.target) request.firstByteMs = firstByteMs
  if (error) request.error = error
  if (end !== 'complete' && end !== 'aborted') {
    const reason = error ? getReason(ending) : message
    if (reason !== undefined) request.reason = truncate(reason, MAX_REASON_LENGTH)
  }
  if (log.chargedUsd !== undefined) request.costUsd = request.chargedUsd = log.chargedUsd
  const { guards, guardUsd } = log.addedFields
  if (guards) request.guards = guards
  if (guardUsd !== undefined) request.guardUsd = guardUsd
  if (warnings.length > 0)
    request.warnings = warnings.slice(0, MAX_LIST_LENGTH).map((warning) => truncate(warning, MAX_MESSAGE_LENGTH))
  if (promptCache) request.promptCache = promptCache
  if (log.servedBy !== getDefaultServedBy(attempts)) request.servedBy = log.servedBy
  return request
}

/** Returns the reason without parser messages, because they may quote the request body. */
const getReason = ({ error, reason }: RequestEnding) =>
  error === 'INVALID_JSON' ? 'The request body is not a valid JSON object.' : reason

/** Creates the record of a skipped target or entry. */
export function createStoredSkip(step: Exclude<StepRecord, AttemptRecord>): StoredSkip {
  if ('entry' in step) return { entry: truncate(step.entry, MAX_NAME_LENGTH), skipped: step.skipped }
  const { provider, model, connectionId, skipped } = step
  return { provider, model, connectionId, skipped }
}

/** Creates an attempt's record. `startedAt` is when its request arrived, in epoch ms. */
export function createStoredAttempt(record: AttemptRecord, startedAt: number): StoredAttempt {
  const { provider, model, connectionId, outcome, status, durationMs, message, usage, costUsd, costSource } = record
  const startMs = record.startedAt - startedAt
  const attempt: StoredAttempt = { provider, model, connectionId, outcome, status, startMs, durationMs }
  if (message !== undefined) attempt.message = truncate(message, MAX_MESSAGE_LENGTH)
  if (!usage) return attempt
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0, units } = usage
  attempt.tokens = {
    input: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    reasoning: reasoningTokens,
  }
  for (const name of OPTIONAL_COUNTS) {
    const count = usage[`${name}Tokens`]
    if (count) attempt.tokens[name] = count
  }
  if (units) attempt.units = units
  if (costUsd !== undefined) attempt.costUsd = fromNanoUsd(toNanoUsd(costUsd))
  if (costSource) attempt.costSource = costSource
  if (record.price) attempt.price = record.price
  return attempt
}

/** Returns the target whose response the client received, or otherwise the last target called. */
function getTarget({ target }: RequestLog, attempts: readonly StoredAttempt[]): StoredRequest['target'] {
  if (target) return { provider: target.provider, model: target.model, connectionId: target.connection.id }
  const lastAttempt = attempts.at(-1)
  return (
    lastAttempt && { provider: lastAttempt.provider, model: lastAttempt.model, connectionId: lastAttempt.connectionId }
  )
}

const truncate = (text: string, max: number) => (text.length > max ? `${text.slice(0, max - 1)}…` : text)
