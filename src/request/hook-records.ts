import type { ErrorCode } from '../errors.ts'
import { toHeaderSafe } from '../lib/http-headers.ts'
import type { CostSource } from '../pricing/cost.ts'
import type { TokenUsage } from '../protocols/formats/format.ts'
import { getTargetName } from '../protocols/providers/target.ts'
import type { CachingSkipReason } from '../types/caching-types.ts'
import type { PriceOrigin } from '../types.ts'
import type { FailureClass } from './routing/failure-class.ts'
import type { Route } from './routing/group.ts'
import { formatVia } from './routing/group.ts'

/** How an attempt used the provider's prompt cache. */
export interface PromptCacheRecord {
  /** Who requested caching: the gateway, the client with its own breakpoints, or nobody, in which case the provider cached on its own. */
  by: 'gateway' | 'client' | 'provider'
  /** Input tokens read from the cache. */
  read: number
  /** Input tokens written to the cache. */
  written: number
  /** The savings from caching in US dollars; negative if the writes cost more than the reads saved. Absent if a price is unknown. */
  savedUsd?: number
  /** Why the gateway added no cache breakpoints. */
  stoodDown?: CachingSkipReason
  /** Whether another target or account served the session before. */
  moved?: true
}

/** The record of one attempt, as passed to `onAttempt`. */
export interface AttemptRecord {
  provider: string
  connectionId: string
  model: string
  /** Epoch ms. */
  startedAt: number
  /** Time until the response arrived, the stream's first content arrived, or the attempt failed, in ms. */
  durationMs: number
  /**
   * `answered`: succeeded. `cancelled`: the client disconnected. `outrun`: lost the hedging race. `refused`: rejected before the provider was called.
   */
  outcome: 'answered' | 'cancelled' | 'outrun' | 'refused' | FailureClass
  /** The provider's HTTP status; 502 or 504 if there was none, 499 if the client disconnected or another attempt won the hedging race. */
  status: number
  /** The provider's message without credentials, or a description; only for failures. */
  message?: string
  /** The combos and providers that led to the target, each with its strategy: `pool:round-robin>inner:weighted`. */
  via?: string
  /** Settled usage. Present in the request's record, not yet in `onAttempt`. Absent if there is none. */
  usage?: TokenUsage
  /** Where `usage` and `costUsd` come from; present whenever `usage` is. */
  costSource?: CostSource
  /** Cost in USD. Absent if any price involved is unknown. */
  costUsd?: number
  /** The price that `costUsd` was calculated from. Absent if the provider reported the cost. */
  price?: PriceOrigin
  /** How the attempt used the provider's prompt cache. Absent without `promptCaching: 'auto'`. */
  promptCache?: PromptCacheRecord
}

/** A target that wasn't called: it failed recently with the class in `skipped`, its connection is draining, or a rule rejected it. */
export interface Skip {
  provider: string
  connectionId: string
  model: string
  skipped: FailureClass | 'draining' | 'refused'
  via?: string
}

/** A combo entry that was excluded: the request doesn't match its `when`, or its name doesn't resolve. */
export interface ExcludedEntry {
  entry: string
  /** The first part of the entry's `when` that doesn't match, such as `when.tools`, or `unreachable`. */
  skipped: string
  via: string
}

/** One step of a request: an attempt, a skipped target, or an excluded entry. */
export type StepRecord = AttemptRecord | Skip | ExcludedEntry

/** Why no further target was tried although there was one. */
export type StopReason = 'max-attempts' | 'retry-budget'

/**
 * How a request ended. `complete`: with the full response. `cut`: the response was cut off. `aborted`: the client disconnected. `failed`: with an
 * error after providers were called, or with an internal error. `refused`: rejected before any call.
 */
export type RequestEnd = 'complete' | 'cut' | 'aborted' | 'failed' | 'refused'

/** The source of the reply to a request. */
export type ServedBy = 'provider' | 'gateway' | 'cache' | 'guard'

/** A guard's verdict in one stage of a request. Contains no content. */
export interface GuardEntry {
  /** The guard's name. */
  name: string
  stage: 'request' | 'answer'
  /**
   * The most severe verdict. `failed` means that the guard failed, and the request with it. `failed-open` means that the guard failed, but the
   * content passed.
   */
  verdict: 'pass' | 'change' | 'refuse' | 'answer' | 'failed' | 'failed-open'
  /** The category of a rejection. */
  category?: string
  /** Whether the guard only watches, so its verdict wasn't enforced. */
  isWatched?: true
  /** The number of strings that the guard checked. Pieces of a stream count separately. */
  parts: number
  /** The total duration of the checks, in ms. */
  ms: number
}

/** The record of one request, as passed to `onRequest`. */
export interface RequestRecord {
  /** The same as in the response header `x-signalbox-request-id`. */
  id: string
  end: RequestEnd
  /** The code of the gateway error that the client received. Absent for responses and for provider errors. */
  error?: ErrorCode
  /** The ID of the client's key, even if it is paused. Absent if the request had none. */
  keyId?: string
  /** The ID of the key's group, if any. */
  groupId?: string
  /** Your app's ID for the account that the request ran as. Absent if there was none. */
  account?: string
  /** The ref of that account, under which everything about the account is stored. */
  accountRef?: string
  /** The model name from the request. Absent if the request couldn't be read. */
  model?: string
  path: string
  /** Epoch ms. */
  startedAt: number
  durationMs: number
  /** The final HTTP status: of the response, or of the error that ended its stream; 499 if the client disconnected. */
  status: number
  /**
   * The HTTP status that was sent, if the stream ended with a different `status`: 200 for a stream that was cut off, or from which the client
   * disconnected.
   */
  sentStatus?: number
  /** The source of the reply: for `cache` and `guard`, a step in front of the model call. */
  servedBy: ServedBy
  streamed: boolean
  /** Attempts that had finished when the request ended, in the order they started. */
  attempts: readonly AttemptRecord[]
  /** Targets that weren't called and entries that were excluded, in order, each with the reason. Absent if there are none. */
  skipped?: ReadonlyArray<Skip | ExcludedEntry>
  /** Usage of all attempts combined. */
  usage?: TokenUsage
  /** Where `usage` and `costUsd` come from: the least certain source among the attempts. Present whenever `usage` is. */
  costSource?: CostSource
  /** Cost of all attempts in USD, or the amount that a feature's route charged. Absent if the cost of any attempt is unknown. */
  costUsd?: number
  /** The amount that a feature's route charged, in USD. Absent if it charged nothing. */
  chargedUsd?: number
  /** The guards' verdicts, by stage. Absent if no guard ran. */
  guards?: readonly GuardEntry[]
  /** Cost of the models that guards called, in USD, in addition to `costUsd`. Absent if none was called or the cost is unknown. */
  guardUsd?: number
  /** The longest time that guards delayed a stream event, in ms. Absent if nothing was delayed. */
  guardHeldMs?: number
  /** How the last attempt that reported it used the provider's prompt cache. */
  promptCache?: PromptCacheRecord
  /** Why no further target was tried although there was one. */
  stopped?: StopReason
  /**
   * The fields that translation dropped, as listed in `x-signalbox-warning`. For a stream, includes fields that were dropped after its headers.
   * Absent if nothing was dropped.
   */
  warnings?: readonly string[]
}

/** Creates one attempt's record. `now` is when the attempt ended. All times are in epoch ms. */
export function createAttemptRecord(
  { target, via }: Route,
  times: { startedAt: number; now: number },
  result: Pick<AttemptRecord, 'outcome' | 'status' | 'message'>,
): AttemptRecord {
  const { provider, connection, model } = target
  const { startedAt, now } = times
  const { outcome, status, message } = result
  const durationMs = now - startedAt
  const record: AttemptRecord = { provider, connectionId: connection.id, model, startedAt, durationMs, outcome, status }
  if (message !== undefined) record.message = message
  if (via) record.via = formatVia(via)
  return record
}

/** Creates a skipped target's record. */
export function createSkipRecord(
  { target: { provider, model, connection }, via }: Route,
  skipped: Skip['skipped'],
): Skip {
  return { provider, connectionId: connection.id, model, skipped, ...(via && { via: formatVia(via) }) }
}

/** Returns the `x-signalbox-attempts` header (`formatAttempts`), or no headers if there are no steps. */
export function createAttemptHeaders(steps: readonly StepRecord[]): Record<string, string> {
  return steps.length > 0 ? { [ATTEMPTS_HEADER]: formatAttempts(steps) } : {}
}

export const ATTEMPTS_HEADER = 'x-signalbox-attempts'

/** The header that names the response's target, in a form that clients can request (`getCallableName`). */
export const TARGET_HEADER = 'x-signalbox-target'

/** Returns a target's name for `x-signalbox-target` and `x-signalbox-attempts`. */
export const formatTarget = (target: Pick<AttemptRecord, 'provider' | 'model'>): string =>
  toHeaderSafe(getTargetName(target))

/**
 * Maximum characters in each part of the header, because clients reject responses with too many bytes of headers. Attempts matter more than skipped
 * targets.
 */
const MAX_LIST_LENGTHS = { attempts: 2_000, skips: 1_500 }

/**
 * Formats the value of `x-signalbox-attempts`, in order. An attempt is `<provider>/<model>=<status>`, with `:<failure class>` if it failed. A skipped
 * target is `<provider>/<model>=skipped:<failure class>`. An excluded combo entry is `<entry>=skipped:when.<condition>`, or `skipped:unreachable` if
 * it doesn't resolve. `;via=<combo>:<strategy>` names the combos that led there, and also applies to following steps without one. `;connection=`
 * contains the start of the connection ID if several share the name. Beyond 2 kB, the rest is only counted: `left-out=<number>`.
 */
export function formatAttempts(steps: readonly StepRecord[]): string {
  let list = ''
  let via: string | undefined
  let omittedCount = 0
  for (const step of steps) {
    const formatted = formatStep(step, steps, via)
    if (list.length + formatted.length > MAX_LIST_LENGTHS['outcome' in step ? 'attempts' : 'skips']) omittedCount++
    else {
      list += list === '' ? formatted : `, ${formatted}`
      via = step.via
    }
  }
  return omittedCount === 0 ? list : `${list}, left-out=${omittedCount}`
}

function formatStep(step: StepRecord, steps: readonly StepRecord[], previousVia: string | undefined): string {
  const via = step.via === undefined || step.via === previousVia ? '' : `;via=${toHeaderSafe(step.via)}`
  if ('entry' in step) return `${toHeaderSafe(step.entry)}=skipped:${toHeaderSafe(step.skipped)}${via}`
  const connection = hasSameTarget(step, steps) ? `;connection=${shortenConnectionId(step)}` : ''
  return `${formatTarget(step)}=${getResult(step)}${connection}${via}`
}

function getResult(step: AttemptRecord | Skip): string {
  if ('skipped' in step) return `skipped:${step.skipped}`
  return step.outcome === 'answered' ? `${step.status}` : `${step.status}:${step.outcome}`
}

/** Returns whether the steps include other connections with the same provider and model. */
export const hasSameTarget = (step: AttemptRecord | Skip, steps: readonly StepRecord[]): boolean =>
  steps.length > 1 && hasDuplicate(step, steps)

const hasDuplicate = (step: AttemptRecord | Skip, steps: readonly StepRecord[]) =>
  steps.some((otherStep) => {
    if ('entry' in otherStep || otherStep.connectionId === step.connectionId) return false
    return otherStep.model === step.model && otherStep.provider === step.provider
  })

/** Returns the start of the connection's ID. */
export const shortenConnectionId = ({ connectionId }: Pick<Skip, 'connectionId'>): string => connectionId.slice(0, 8)
