import type { GatewayError } from '../errors.ts'
import { addIterations, addSpending, calculateSpending, type Spending } from '../pricing/cost.ts'
import { isBlankUsage } from '../protocols/formats/canonical/reported-usage.ts'
import type { TokenUsage } from '../protocols/formats/format.ts'
import { getPriceOrigin } from '../protocols/providers/catalog-model.ts'
import type { Failure, StreamFailure } from './codec/call-failure.ts'
import type { StreamEnd } from './codec/relay.ts'
import { type AttemptRecord, createAttemptRecord } from './hook-records.ts'
import type { ModelLog } from './model-log.ts'
import type { RejectedAttempt, Target } from './outcome.ts'
import type { Route } from './routing/group.ts'
import type { CircuitPermit } from './routing/permit.ts'
import type { RunningCall } from './routing/target-stats.ts'

/** The parts of an attempt's codec that the log reads. The log doesn't retain the codec itself, which references the request body. */
export interface StartedCodec {
  readonly isPassThrough: boolean
  /** Returns warnings about the translation for the target. */
  warnings(): readonly string[]
}

type UnitEstimate = () => TokenUsage['units']

/** The outcome of an attempt. */
type AttemptResult = Pick<AttemptRecord, 'outcome' | 'status' | 'message'>

/** Returns fields to add to a settled attempt's record. */
export type RecordExtension = (settled: AttemptRecord) => Partial<AttemptRecord>

const NO_EXTENSIONS: readonly RecordExtension[] = []

/**
 * One attempt. It has at most one outcome (`answered`, `cancelled`, `outrun`, `refused`, or a failure class), and settles once: with its outcome, or,
 * if it was answered, with its last byte. Until then, it counts toward its target's load.
 */
export class AttemptLog {
  readonly route: Route
  /** Epoch ms. */
  readonly startedAt: number
  /** Whether the attempt is a hedge, which runs in parallel with a slow attempt. */
  readonly isHedge: boolean
  /** The attempt's number in the order of provider calls, starting at 1. 0 until its provider is called. */
  number = 0
  /** The attempt's index in the request's steps, or -1 until its provider is called. */
  stepIndex = -1
  /** Whether the attempt's stream was cut off. */
  isCut = false
  /** Whether the attempt's response is a stream that has started. */
  isStreaming = false
  /** The time from the start to the last byte, in ms. Set once the attempt has settled. */
  totalMs = 0
  readonly #permit: CircuitPermit
  readonly #log: ModelLog
  #headers: Readonly<Record<string, string>> | undefined = undefined
  readonly #load: RunningCall
  #record: AttemptRecord | undefined = undefined
  #spending: Spending | undefined = undefined
  #progress: { readonly usage: TokenUsage | undefined } | undefined = undefined
  #countInput: (() => number) | undefined = undefined // the input tokens of the call in flight
  #countUnits: UnitEstimate | undefined = undefined
  #isListed = false
  #isSettled = false
  #isEmptyJudged = false // whether it is already known how an empty response counts
  readonly #onSettled: Array<(record: AttemptRecord) => void> = []
  #extensions: readonly RecordExtension[] = NO_EXTENSIONS

  constructor({ route, permit }: Target, { log, isHedge }: { log: ModelLog; isHedge: boolean }) {
    const { clock, targetStats } = log.context
    this.route = route
    this.isHedge = isHedge
    this.#permit = permit
    this.#log = log
    this.startedAt = clock.now()
    this.#load = targetStats.begin(route.target, log.streamed)
  }

  /** Records that neither a step nor the target's format has rejected the request, so its provider is called next. */
  recordStart(codec: StartedCodec): void {
    this.#log.recordAttempt(this, codec)
  }

  /** Resolves to the record when the attempt has settled. */
  waitUntilSettled(): Promise<AttemptRecord> {
    return new Promise((resolve) => this.onSettled(resolve))
  }

  /** Calls `listener` with the record when the attempt settles, or immediately if it already has. */
  onSettled(listener: (record: AttemptRecord) => void): void {
    if (this.#isSettled && this.#record) listener(this.#record)
    else this.#onSettled.push(listener)
  }

  /** Adds headers to the attempt's calls, such as the trace context. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = { ...this.#headers, ...headers }
  }

  get addedHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#headers
  }

  /** The attempt's record, once it has an outcome. */
  get record(): AttemptRecord | undefined {
    return this.#record
  }

  /** The usage so far; the final usage once the attempt has settled. */
  get spending(): Spending | undefined {
    return this.#spending
  }

  /** Follows the usage that a response's events report, which counts even if the attempt fails. */
  followProgress(progress: { readonly usage: TokenUsage | undefined }): void {
    this.#progress = progress
  }

  /** Counts the usage that the provider reported for a response, even if the response isn't used. Default: the usage that the events reported. */
  recordUsage(reportedUsage: TokenUsage | undefined): void {
    if (this.#isSettled) return
    const usage = reportedUsage ?? this.#progress?.usage
    if (usage && this.#countInput && lacksInput(usage)) {
      this.recordEstimate(usage, 0)
      return
    }
    this.#progress = this.#countInput = undefined
    if (usage) this.#spend(usage, { isEstimated: false })
  }

  /** Whether the request uses an option that costs more than the model's price. */
  isPremium = false

  /** Adds the fields that `getFields` returns to the record when the attempt settles. */
  extendRecord(getFields: RecordExtension): void {
    this.#extensions = [...this.#extensions, getFields]
  }

  /**
   * Records a call to a provider. `countInput` and `countUnits` return its input tokens and other billable units, used if the provider reports
   * neither.
   */
  recordCall(countInput: () => number, countUnits?: UnitEstimate): void {
    this.#countInput = countInput
    this.#countUnits = countUnits
  }

  /** Counts an estimate if the provider hasn't reported all usage of the current call. `output` is the estimated number of output tokens. */
  recordEstimate(initialUsage: TokenUsage | undefined, output: number): void {
    const input = this.#countInput
    this.#progress = this.#countInput = undefined
    if (this.#isSettled || !input) return
    const units = this.#countUnits?.()
    const { costUsd: _, ...reported } = addIterations(initialUsage ?? { inputTokens: 0, outputTokens: 0 })
    this.#spend(
      {
        ...(units && { units }),
        ...reported,
        inputTokens: reported.inputTokens || input(),
        outputTokens: Math.max(reported.outputTokens, Math.ceil(output)),
      },
      { isEstimated: true },
    )
  }

  #spend(usage: TokenUsage, { isEstimated }: { isEstimated: boolean }): void {
    const spending = calculateSpending(usage, {
      catalog: this.#log.catalog,
      target: this.route.target,
      isEstimated,
      isPremium: this.isPremium,
    })
    this.#spending = addSpending(this.#spending, spending)
  }

  /** Records that a complete response has arrived, or that a stream has started; `recordResponseEnd` or `recordStreamEnd` follows. */
  recordResponse(kind: 'whole' | 'stream', status: number): void {
    if (kind === 'stream') this.#permit.beginStream()
    else this.#permit.succeed()
    this.#measure()
    this.isStreaming = kind === 'stream'
    this.#recordOutcome({ outcome: 'answered', status })
  }

  /** Records that the client has received a complete response. */
  recordResponseEnd(): void {
    this.#settle()
  }

  /** Records the end of the stream. If it was cut off, the failure determines how it counts, unless it was empty, which is judged separately. */
  recordStreamEnd(
    { usage, estimatedTokens, error, isCancelled, internalError }: StreamEnd,
    failure?: StreamFailure,
  ): void {
    if (internalError !== undefined) this.#log.context.onError(internalError)
    else if (!this.#isEmptyJudged && error && failure) {
      // Doesn't keep the provider's message, because it may quote anything.
      this.#permit.failStream({
        ...failure,
        message: `The stream broke off after it started (status ${error.status}).`,
      })
    } else if (!this.#isEmptyJudged && !isCancelled) this.#permit.succeed()
    this.isCut = error !== undefined && !isCancelled
    const isEmpty = estimatedTokens === 0 && usage !== undefined && isBlankUsage(usage) && !error && !isCancelled
    if (estimatedTokens === undefined || isEmpty) this.recordUsage(usage)
    else this.recordEstimate(usage, estimatedTokens)
    this.#settle()
  }

  /**
   * Records a failure. With `isEmpty`, the response is valid but empty, and `recordEmptyUsed` or `recordEmptyDropped` follows. With
   * `isOwnCredential`, the credential belongs to the caller, so its failures don't count for others.
   */
  recordFailure(
    receivedFailure: Failure,
    {
      sentStatus,
      isEmpty,
      isOwnCredential,
    }: { sentStatus: number | undefined; isEmpty: boolean; isOwnCredential: boolean },
  ): void {
    const { class: outcome, upstreamStatus = receivedFailure.status } = receivedFailure
    const isOmitted = this.#log.omitsProviderMessages && receivedFailure.isQuoted
    const message = isOmitted ? `The provider returned the status ${upstreamStatus}.` : receivedFailure.message
    const failure = { ...receivedFailure, message }
    if (outcome === 'internal') {
      this.#permit.drop()
      this.#log.context.onError(failure.cause)
    } else if (!isEmpty) this.#permit.fail({ ...failure, owner: this.#log.caller.owner, isOwnCredential })
    this.#recordOutcome({ outcome, status: outcome === 'content' ? sentStatus || 200 : upstreamStatus, message })
    this.#settle()
  }

  /** Records that the client has stopped waiting. */
  recordCancel({ status }: GatewayError): void {
    if (this.#record) return
    this.#permit.drop()
    this.#recordOutcome({ outcome: 'cancelled', status })
    const usage = this.#progress?.usage
    if (usage && !isBlankUsage(usage)) this.recordUsage(usage)
    else this.recordEstimate(undefined, 0) // the provider has received the input, and may or may not continue generating
    this.#settle()
  }

  /** Records that another attempt was faster. */
  recordHedgeLoss(): void {
    this.#permit.drop()
    if (!this.#record) {
      this.#measure() // a lower bound; otherwise, only fast responses would count, and the target would look faster than it is
      this.#recordOutcome({ outcome: 'outrun', status: 499 })
    }
    this.#settle()
  }

  /** Records that the provider isn't called. The target is recorded as skipped, unless the entire request is rejected. */
  recordRejection({ status, message }: GatewayError, scope: RejectedAttempt['scope']): void {
    this.#permit.drop()
    if (scope !== 'request') this.#log.recordSkip(this.route, scope === 'format' ? 'format' : 'refused')
    this.#settleUnlisted({ outcome: 'refused', status, message })
  }

  /** Ends an attempt that won't call its provider, or whose request is over. */
  release(): void {
    if (this.#isSettled) return
    if (this.#record) this.#settle()
    else {
      this.#permit.drop()
      this.#settleUnlisted({ outcome: 'cancelled', status: 499 })
    }
  }

  /** Records that the client gets the empty response, which then counts neither for nor against the target. */
  recordEmptyUsed(failure: Failure): void {
    this.#isEmptyJudged = true
    this.#permit.fail({ ...failure, class: 'client' })
  }

  /** Records that the client doesn't get the empty response. */
  recordEmptyDropped(failure: Failure): void {
    if (this.#isEmptyJudged) return
    this.#isEmptyJudged = true
    this.#permit.fail(failure)
  }

  #measure(): void {
    this.#load.recordLatency(this.#log.context.clock.now() - this.startedAt)
  }

  #recordOutcome(result: AttemptResult): void {
    this.#record = this.#toRecord(result)
    this.#isListed = true
    this.#log.recordOutcome(this, this.#record)
  }

  /** Ends the attempt; only the first call counts. */
  #settle(): void {
    if (this.#isSettled || !this.#record) return
    if (this.#progress) this.recordUsage(undefined)
    this.#isSettled = true
    this.#load.end()
    if (this.#spending) {
      const { costSource, costUsd } = this.#spending
      const isCalculated = costUsd !== undefined && costSource !== 'reported'
      const price = isCalculated && getPriceOrigin(this.#log.catalog, this.route.target)
      this.#record = { ...this.#record, ...this.#spending, ...(price && { price }) }
    }
    for (const getFields of this.#extensions) this.#record = { ...this.#record, ...getFields(this.#record) }
    this.totalMs = this.#log.context.clock.now() - this.startedAt
    this.#log.recordSettled(this, this.#isListed ? this.#record : undefined)
    const record = this.#record
    for (const listener of this.#onSettled) this.#log.call(() => listener(record))
  }

  /** Ends an attempt that the request's record doesn't list. */
  #settleUnlisted(result: AttemptResult): void {
    this.#record = this.#toRecord(result)
    this.#settle()
  }

  #toRecord(result: AttemptResult): AttemptRecord {
    const times = { startedAt: this.startedAt, now: this.#log.context.clock.now() }
    return createAttemptRecord(this.route, times, result)
  }
}

/** Returns whether there are output tokens but no input tokens, which no model can produce. */
export const lacksInput = (usage: TokenUsage): boolean => {
  const { inputTokens, outputTokens, costUsd } = addIterations(usage)
  return inputTokens === 0 && outputTokens > 0 && costUsd === undefined
}
