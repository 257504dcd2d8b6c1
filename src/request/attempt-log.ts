import type { GatewayError } from '../errors.ts'
import { addIterations, addSpendings, calculateSpending, type Spending } from '../pricing/cost.ts'
import { isBlank } from '../protocols/formats/canonical/reported-usage.ts'
import type { TokenUsage } from '../protocols/formats/format.ts'
import { type Failure, toStreamFailure } from './codec/call-failure.ts'
import type { StreamEnd } from './codec/relay.ts'
import { type AttemptRecord, attemptRecord } from './hook-records.ts'
import type { ModelLog } from './model-log.ts'
import type { RefusedTarget, Target } from './outcome.ts'
import type { Route } from './routing/group.ts'
import type { CircuitPermit } from './routing/permit.ts'
import type { RunningCall } from './routing/target-stats.ts'

/** What the log reads of the codec of an attempt. It does not keep the codec, which holds the body of the request. */
export interface BegunCodec {
  readonly isPassThrough: boolean
  /** What the translation for the target loses. */
  warnings(): readonly string[]
}

type UnitEstimate = () => TokenUsage['units']

/** How an attempt turned out. */
type AttemptResult = Pick<AttemptRecord, 'outcome' | 'status' | 'message'>

/**
 * One attempt. It has one outcome (`answered`, `failed`, `cancelled`, `superseded`, `refused`, or none), and settles once: with its outcome,
 * or after an answer with its last byte. Its target counts as busy until then.
 */
export class AttemptLog {
  readonly route: Route
  /** Epoch ms. */
  readonly startedAt: number
  /** Is it a second attempt beside a slow one? */
  readonly isHedge: boolean
  /** From 1 on, in the order in which providers were called; 0 until then. */
  number = 0
  /** Its place among the steps of the request, once its provider is called. */
  place = -1
  /** Did its stream break off? */
  isCut = false
  /** Is its response a stream that has begun? */
  isStreaming = false
  /** From the start to the last byte, once it has settled. */
  totalMs = 0
  readonly #permit: CircuitPermit
  readonly #log: ModelLog
  #headers: Readonly<Record<string, string>> | undefined = undefined
  readonly #load: RunningCall
  #record: AttemptRecord | undefined = undefined
  #spending: Spending | undefined = undefined
  #following: { readonly usage: TokenUsage | undefined } | undefined = undefined
  #input: (() => number) | undefined = undefined // of the call under way
  #units: UnitEstimate | undefined = undefined
  #isListed = false
  #isSettled = false
  #isEmptyJudged = false // whether an empty answer counts against the target
  readonly #onSettled: Array<(record: AttemptRecord) => void> = []

  constructor({ route, permit }: Target, { log, isHedge }: { log: ModelLog; isHedge: boolean }) {
    const { clock, targetStats } = log.context
    this.route = route
    this.isHedge = isHedge
    this.#permit = permit
    this.#log = log
    this.startedAt = clock.now()
    this.#load = targetStats.begin(route.target, log.streamed)
  }

  /** Neither a step nor the format of the target has refused the request: its provider is called next. */
  begun(codec: BegunCodec): void {
    this.#log.attemptBegins(this, codec)
  }

  /** Resolves to the record when the attempt has settled. */
  settled(): Promise<AttemptRecord> {
    return new Promise((resolve) => this.onSettled(resolve))
  }

  /** Calls `listener` with the record in the moment in which the attempt settles; at once if its request was over before. */
  onSettled(listener: (record: AttemptRecord) => void): void {
    if (this.#isSettled && this.#record) listener(this.#record)
    else this.#onSettled.push(listener)
  }

  /** Adds headers to the calls of the attempt, such as those by which a provider continues the trace. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    this.#headers = { ...this.#headers, ...headers }
  }

  get addedHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#headers
  }

  /** The record of the attempt, once it has an outcome. */
  get record(): AttemptRecord | undefined {
    return this.#record
  }

  /** What the attempt has used so far; after it has settled, all of it. */
  get spending(): Spending | undefined {
    return this.#spending
  }

  /** Called when the events of a response are read. The usage that they report counts even if the attempt fails. */
  follows(progress: { readonly usage: TokenUsage | undefined }): void {
    this.#following = progress
  }

  /** Counts the usage that the provider reported for a response, even if the response is not used; default: the usage that its events reported. */
  used(reported: TokenUsage | undefined): void {
    if (this.#isSettled) return
    const usage = reported ?? this.#following?.usage
    if (usage && this.#input && lacksInput(usage)) {
      this.estimated(usage, 0)
      return
    }
    this.#following = this.#input = undefined
    if (usage) this.#spend(usage, { isEstimated: false })
  }

  /** Does the request use an option that costs more than the price of the model? */
  isDearer = false

  /** A provider is called. `input`: the tokens of the call's input, and `units`: what else it may be charged by, for when the provider reports neither. */
  called(input: () => number, units?: UnitEstimate): void {
    this.#input = input
    this.#units = units
  }

  /** Counts an estimate when the provider has not reported all usage of the present call. `output`: the estimated tokens of its output. */
  estimated(usageOfStart: TokenUsage | undefined, output: number): void {
    const input = this.#input
    this.#following = this.#input = undefined
    if (this.#isSettled || !input) return
    const units = this.#units?.()
    const { costUsd: _, ...reported } = addIterations(usageOfStart ?? { inputTokens: 0, outputTokens: 0 })
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
      catalog: this.#log.context.catalog,
      target: this.route.target,
      isEstimated,
      isDearer: this.isDearer,
    })
    this.#spending = addSpendings(this.#spending, spending)
  }

  /** A whole answer has come, or a stream has begun; `answerEnded` or `streamEnded` follows. */
  answered(kind: 'whole' | 'stream', status: number): void {
    if (kind === 'stream') this.#permit.beginStream()
    else this.#permit.succeed()
    this.#measure()
    this.isStreaming = kind === 'stream'
    this.#outcome({ outcome: 'answered', status })
  }

  /** The client has a whole answer. */
  answerEnded(): void {
    this.#settle()
  }

  /** The stream is over. One that broke off counts by its error, unless it is an empty one, which is judged otherwise. */
  streamEnded({ usage, estimatedTokens, error, isCancelled, internalError }: StreamEnd): void {
    const { clock, onError } = this.#log.context
    if (internalError !== undefined) onError(internalError)
    else if (!this.#isEmptyJudged && error) {
      const failure = toStreamFailure(error, clock.now())
      // The provider's message is not kept, as it may quote anything.
      this.#permit.breakOff({
        ...failure,
        message: `The stream broke off after it started (status ${error.status}).`,
      })
    } else if (!this.#isEmptyJudged && !isCancelled) this.#permit.succeed()
    this.isCut = error !== undefined && !isCancelled
    const isEmpty = estimatedTokens === 0 && usage !== undefined && isBlank(usage) && !error && !isCancelled
    if (estimatedTokens === undefined || isEmpty) this.used(usage)
    else this.estimated(usage, estimatedTokens)
    this.#settle()
  }

  /** `isEmpty`: the answer is all right, but empty; `emptyAnswerUsed` or `emptyAnswerDropped` follows. */
  failed(failure: Failure, { sentStatus, isEmpty }: { sentStatus: number | undefined; isEmpty: boolean }): void {
    const { class: outcome, message, upstreamStatus = failure.status } = failure
    if (outcome === 'internal') {
      this.#permit.drop()
      this.#log.context.onError(failure.cause)
    } else if (!isEmpty) this.#permit.fail({ ...failure, owner: this.#log.caller.owner })
    this.#outcome({ outcome, status: outcome === 'content' ? sentStatus || 200 : upstreamStatus, message })
    this.#settle()
  }

  /** The client no longer waits. */
  cancelled({ status }: GatewayError): void {
    if (this.#record) return
    this.#permit.drop()
    this.#outcome({ outcome: 'cancelled', status })
    const usage = this.#following?.usage
    if (usage && !isBlank(usage)) this.used(usage)
    else this.estimated(undefined, 0) // the provider has the input, and goes on or not
    this.#settle()
  }

  /** Another attempt was faster. */
  superseded(): void {
    this.#permit.drop()
    if (!this.#record) {
      this.#measure() // at least, or slow answers would count less the more of them there are
      this.#outcome({ outcome: 'outrun', status: 499 })
    }
    this.#settle()
  }

  /** The provider is not called. Its target counts as skipped, unless the whole request is refused. */
  refused({ status, message }: GatewayError, scope: RefusedTarget['scope']): void {
    this.#permit.drop()
    if (scope !== 'request') this.#log.skipped(this.route, scope === 'format' ? 'format' : 'refused')
    this.#settleUnlisted({ outcome: 'refused', status, message })
  }

  /** Ends an attempt that will not call its provider, or whose request is over. */
  release(): void {
    if (this.#isSettled) return
    if (this.#record) this.#settle()
    else {
      this.#permit.drop()
      this.#settleUnlisted({ outcome: 'cancelled', status: 499 })
    }
  }

  /** The client gets the empty answer, which then counts neither for nor against the target. */
  emptyAnswerUsed(failure: Failure): void {
    this.#isEmptyJudged = true
    this.#permit.fail({ ...failure, class: 'client' })
  }

  /** The client does not get the empty answer. */
  emptyAnswerDropped(failure: Failure): void {
    if (this.#isEmptyJudged) return
    this.#isEmptyJudged = true
    this.#permit.fail(failure)
  }

  #measure(): void {
    this.#load.recordLatency(this.#log.context.clock.now() - this.startedAt)
  }

  #outcome(result: AttemptResult): void {
    this.#record = this.#toRecord(result)
    this.#isListed = true
    this.#log.attemptResponds(this, this.#record)
  }

  /** The end of the attempt; only the first one counts. */
  #settle(): void {
    if (this.#isSettled || !this.#record) return
    if (this.#following) this.used(undefined)
    this.#isSettled = true
    this.#load.end()
    if (this.#spending) this.#record = { ...this.#record, ...this.#spending }
    this.totalMs = this.#log.context.clock.now() - this.startedAt
    this.#log.attemptSettles(this, this.#isListed ? this.#record : undefined)
    const record = this.#record
    for (const listener of this.#onSettled) this.#log.call(() => listener(record))
  }

  /** The end of one that is not listed among the attempts of the request. */
  #settleUnlisted(result: AttemptResult): void {
    this.#record = this.#toRecord(result)
    this.#settle()
  }

  #toRecord(result: AttemptResult): AttemptRecord {
    const times = { startedAt: this.startedAt, now: this.#log.context.clock.now() }
    return attemptRecord(this.route, times, result)
  }
}

/** Are there tokens of output, but none of input? No model answers without any. */
const lacksInput = (usage: TokenUsage): boolean => {
  const { inputTokens, outputTokens, costUsd } = addIterations(usage)
  return inputTokens === 0 && outputTokens > 0 && costUsd === undefined
}
