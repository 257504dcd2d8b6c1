import type { ErrorCode } from '../errors.ts'
import type { TokenUsage } from '../formats/format.ts'
import { headerSafe } from '../lib/http-headers.ts'
import { targetName } from '../providers/target.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Route } from '../routing/group.ts'
import { viaOf } from '../routing/group.ts'
import type { CostSource } from '../usage/cost.ts'

/** The record of one attempt, as the hook `onAttempt` gets it. */
export interface AttemptRecord {
  provider: string
  connectionId: string
  model: string
  /** Epoch ms. */
  startedAt: number
  /** Until the answer had come, or the first content of a stream, or until it failed. */
  durationMs: number
  /** `refused`: a step around it did not let it call its provider. */
  outcome: 'answered' | 'cancelled' | 'outrun' | 'refused' | FailureClass
  /** The provider's HTTP status; 502 or 504 where it gave none, 499 when the client left or another attempt was faster. */
  status: number
  /** When it failed: the provider's message without credentials, or what happened. */
  message?: string
  /** The combos and providers that led to the target, each with its strategy: `pool:round-robin>inner:weighted`. */
  via?: string
  /** What it has used, once it has settled: in the record of the request, not yet in that of `onAttempt`. Absent when that is nothing. */
  usage?: TokenUsage
  /** Where `usage` and `costUsd` come from; there whenever `usage` is. */
  costSource?: CostSource
  /** What it has cost, in US dollars; absent when the price of something that was used is not known. */
  costUsd?: number
}

/**
 * A target that was not called because of an earlier failure of the class `skipped`, as its connection is draining, or as a step refused
 * it.
 */
export interface Skip {
  provider: string
  connectionId: string
  model: string
  skipped: FailureClass | 'draining' | 'refused'
  via?: string
}

/** An entry of a combo that was left out: the request does not meet its `when`, or its name leads nowhere. */
export interface LeftOutEntry {
  entry: string
  /** The first part of its `when` that does not hold, such as `when.tools`; or `unreachable`. */
  skipped: string
  via: string
}

/** One step of a request: a call, a target that was skipped, or an entry that was left out. */
export type StepRecord = AttemptRecord | Skip | LeftOutEntry

/** Why no other target was tried though there was one. */
export type Stop = 'max-attempts' | 'retry-budget'

/**
 * How a request ended: with its whole answer; with an answer that was cut, or that the client did not wait for; with an error after providers
 * were called, or with one before that.
 */
export type RequestEnd = 'complete' | 'cut' | 'aborted' | 'failed' | 'refused'

/** The record of one model request, as the hook `onRequest` gets it. */
export interface RequestRecord {
  /** As in the header `x-signalbox-request-id` of its answer. */
  id: string
  end: RequestEnd
  /** The code of the gateway's error that the client got; absent with an answer, and with an error of the provider. */
  error?: ErrorCode
  /** The id of the client's key, a paused one too; absent when the request carried none. */
  keyId?: string
  /** The id of the group of that key, if it has one. */
  groupId?: string
  /** The model name that the client sent; absent when the request could not be read. */
  model?: string
  path: string
  /** Epoch ms. */
  startedAt: number
  durationMs: number
  /** The HTTP status of the answer; 499 when the client left before one. */
  status: number
  streamed: boolean
  /** Those that were over when the request was, in the order in which they began. */
  attempts: readonly AttemptRecord[]
  /** The targets that were not called and the entries that were left out, each with why, in order; absent when there are none. */
  skipped?: ReadonlyArray<Skip | LeftOutEntry>
  /** What all attempts have used together. */
  usage?: TokenUsage
  /** Where `usage` and `costUsd` come from, by the least certain of the attempts; there whenever `usage` is. */
  costSource?: CostSource
  /** What all attempts have cost, in US dollars; absent when that is not known of one of them. */
  costUsd?: number
  /** Why no other target was tried though there was one. */
  stopped?: Stop
  /**
   * What was lost in translation, as `x-signalbox-warning` names it, of a stream also what was lost after its headers; absent when
   * nothing was.
   */
  warnings?: readonly string[]
}

/** The record of one attempt; `now` is when it ended. Times in epoch ms. */
export function attemptRecord(
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
  if (via) record.via = viaOf(via)
  return record
}

/** The record of a target that is passed over. */
export function skipRecord({ target: { provider, model, connection }, via }: Route, skipped: Skip['skipped']): Skip {
  return { provider, connectionId: connection.id, model, skipped, ...(via && { via: viaOf(via) }) }
}

/** `x-signalbox-attempts` (`attemptsHeader`); no header without a step. */
export function attemptHeaders(steps: readonly StepRecord[]): Record<string, string> {
  return steps.length > 0 ? { [ATTEMPTS_HEADER]: attemptsHeader(steps) } : {}
}

/** The header that names the attempts (`attemptsHeader`). */
export const ATTEMPTS_HEADER = 'x-signalbox-attempts'

/** The header that names the target that answered, as a request can name it again (`askableName`). */
export const TARGET_HEADER = 'x-signalbox-target'

/** The name of a target in `x-signalbox-target` and `x-signalbox-attempts`. */
export const targetHeader = (target: Pick<AttemptRecord, 'provider' | 'model'>): string =>
  headerSafe(targetName(target))

/** In characters: clients refuse answers with too many bytes of headers. Attempts matter more than skipped targets. */
const MAX_LIST = { attempts: 2_000, skips: 1_500 }

/**
 * The value of `x-signalbox-attempts`: in order `<provider>/<model>=<status>` for each attempt, with
 * `:<failure class>` when it failed, and `<provider>/<model>=skipped:<failure class>` for each target that was passed over, or
 * `<entry>=skipped:when.<condition>` for each entry of a combo that is not for the request, `skipped:unreachable` where it leads nowhere. The
 * combos that led there follow as `;via=<combo>:<strategy>`, which holds for the next ones too unless they have another, and the beginning of
 * the connection's id where others share the name. What does not fit into 2 kB is counted at the end: `left-out=<number>`.
 */
export function attemptsHeader(steps: readonly StepRecord[]): string {
  let list = ''
  let via: string | undefined
  let leftOut = 0
  for (const step of steps) {
    const shown = shownStep(step, steps, via)
    if (list.length + shown.length > MAX_LIST['outcome' in step ? 'attempts' : 'skips']) leftOut++
    else {
      list += list === '' ? shown : `, ${shown}`
      via = step.via
    }
  }
  return leftOut === 0 ? list : `${list}, left-out=${leftOut}`
}

function shownStep(step: StepRecord, steps: readonly StepRecord[], viaBefore: string | undefined): string {
  const via = step.via === undefined || step.via === viaBefore ? '' : `;via=${headerSafe(step.via)}`
  if ('entry' in step) return `${headerSafe(step.entry)}=skipped:${headerSafe(step.skipped)}${via}`
  const connection = isOneOfMany(step, steps) ? `;connection=${shortId(step)}` : ''
  return `${targetHeader(step)}=${result(step)}${connection}${via}`
}

function result(step: AttemptRecord | Skip): string {
  if ('skipped' in step) return `skipped:${step.skipped}`
  return step.outcome === 'answered' ? `${step.status}` : `${step.status}:${step.outcome}`
}

/** Are there other connections among the steps with the same provider and model? */
export const isOneOfMany = (step: AttemptRecord | Skip, steps: readonly StepRecord[]): boolean =>
  steps.length > 1 && hasTwin(step, steps)

const hasTwin = (step: AttemptRecord | Skip, steps: readonly StepRecord[]) =>
  steps.some((one) => {
    if ('entry' in one || one.connectionId === step.connectionId) return false
    return one.model === step.model && one.provider === step.provider
  })

/** The beginning of the connection's id. */
export const shortId = ({ connectionId }: Pick<Skip, 'connectionId'>): string => connectionId.slice(0, 8)
