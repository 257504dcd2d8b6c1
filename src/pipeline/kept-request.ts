import type { ErrorCode } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import { nanoOf, usdOf } from '../lib/usd.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { type KeptAttempt, type KeptRequest, type KeptSkip, MEDIA, spentBy } from '../usage/kept/record.ts'
import type { AttemptRecord, RequestEnd, StepRecord } from './records.ts'

/** Takes a request that is over, to keep it. */
export type KeepRequest = (request: KeptRequest, waitUntil?: (work: Promise<unknown>) => void) => void

/** What a log knows of its request when that is over. */
export interface EndedRequest {
  id: string
  /** Epoch ms. */
  startedAt: number
  durationMs: number
  endpoint: Endpoint
  key: PresentedKey | undefined
  user: string | undefined
  model: string | undefined
  streamed: boolean
  steps: ReadonlyArray<StepRecord | null | undefined>
  /** Whose answer the client got. */
  target: RouteTarget | undefined
  warnings: readonly string[]
  status: number
  end: RequestEnd
  error: ErrorCode | undefined
  reason: string | undefined
}

const MOST_LISTED = 20
const LONGEST_MESSAGE = 200
const LONGEST_REASON = 300
const LONGEST_NAME = 512

/** What is kept of a request. Nothing in it comes from a prompt or an answer. */
export function keptRequest(facts: EndedRequest): KeptRequest {
  const { startedAt, durationMs, endpoint, key, model, steps, warnings, status, end, error } = facts
  const attempts: KeptAttempt[] = []
  const skipped: KeptSkip[] = []
  let message: string | undefined
  let firstByteMs: number | undefined
  for (const step of steps) {
    if (!step) continue
    if (!('outcome' in step)) {
      if (skipped.length < MOST_LISTED) skipped.push(keptSkip(step))
      continue
    }
    message = step.message ?? message
    if (step.outcome === 'answered') firstByteMs = step.startedAt - startedAt + step.durationMs
    // What was spent is summed up from the attempts: those that spent something are all kept.
    if (step.usage || attempts.length < MOST_LISTED) attempts.push(keptAttempt(step, startedAt))
  }
  const spent = spentBy(attempts)
  const request: KeptRequest = {
    id: facts.id,
    time: new Date(startedAt).toISOString(),
    endpoint: endpoint.path,
    format: endpoint.format,
    streamed: facts.streamed,
    attempts,
    durationMs,
    status,
    end,
    tokens: spent.tokens,
  }
  if (spent.units) request.units = spent.units
  if (spent.costUsd !== undefined) request.costUsd = spent.costUsd
  if (spent.costSource) request.costSource = spent.costSource
  if (key) {
    request.keyId = key.id
    if (key.group) request.groupId = key.group.id
    if (key.metadata) request.metadata = key.metadata
  }
  if (facts.user !== undefined) request.user = facts.user
  if (model !== undefined) request.model = cut(model, LONGEST_NAME)
  const target = targetOf(facts, attempts)
  if (target) request.target = target
  if (skipped.length > 0) request.skipped = skipped
  if (firstByteMs !== undefined && facts.target) request.firstByteMs = firstByteMs
  if (error) request.error = error
  if (end !== 'complete' && end !== 'aborted') {
    const reason = error ? reasonOf(facts) : message
    if (reason !== undefined) request.reason = cut(reason, LONGEST_REASON)
  }
  if (warnings.length > 0)
    request.warnings = warnings.slice(0, MOST_LISTED).map((warning) => cut(warning, LONGEST_MESSAGE))
  return request
}

/** A parser's message may quote the body of the request. */
const reasonOf = ({ error, reason }: EndedRequest) =>
  error === 'INVALID_JSON' ? 'The request body is not valid JSON.' : reason

/** A target or an entry that was passed over, as it is kept. */
export function keptSkip(step: Exclude<StepRecord, AttemptRecord>): KeptSkip {
  if ('entry' in step) return { entry: cut(step.entry, LONGEST_NAME), skipped: step.skipped }
  const { provider, model, connectionId, skipped } = step
  return { provider, model, connectionId, skipped }
}

/** An attempt as it is kept; `startedAt`: when its request came, epoch ms. */
export function keptAttempt(record: AttemptRecord, startedAt: number): KeptAttempt {
  const { provider, model, connectionId, outcome, status, durationMs, message, usage, costUsd, costSource } = record
  const startMs = record.startedAt - startedAt
  const attempt: KeptAttempt = { provider, model, connectionId, outcome, status, startMs, durationMs }
  if (message !== undefined) attempt.message = cut(message, LONGEST_MESSAGE)
  if (!usage) return attempt
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0, reasoningTokens = 0, units } = usage
  attempt.tokens = {
    input: inputTokens,
    output: outputTokens,
    cacheRead: cacheReadTokens,
    cacheWrite: cacheWriteTokens,
    reasoning: reasoningTokens,
  }
  for (const name of MEDIA) {
    const count = usage[`${name}Tokens`]
    if (count) attempt.tokens[name] = count
  }
  if (units) attempt.units = units
  if (costUsd !== undefined) attempt.costUsd = usdOf(nanoOf(costUsd))
  if (costSource) attempt.costSource = costSource
  return attempt
}

/** Whose answer the client got, otherwise who was called last. */
function targetOf({ target }: EndedRequest, attempts: readonly KeptAttempt[]): KeptRequest['target'] {
  if (target) return { provider: target.provider, model: target.model, connectionId: target.connection.id }
  const last = attempts.at(-1)
  return last && { provider: last.provider, model: last.model, connectionId: last.connectionId }
}

const cut = (text: string, longest: number) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)
