import { type Failure, failureOfStream } from '../codec/failure.ts'
import type { StreamEnd } from '../codec/relay.ts'
import type { GatewayError } from '../errors.ts'
import type { TokenUsage } from '../formats/format.ts'
import type { Route } from '../routing/group.ts'
import type { CircuitPermit } from '../routing/permit.ts'
import type { RunningCall, TargetStats } from '../routing/target-stats.ts'
import type { Catalog, Clock } from '../types.ts'
import { type Spending, spendingOf, sumOfSpendings } from '../usage/cost.ts'
import type { Observer } from './hooks.ts'
import type { AttemptFollower } from './observing.ts'
import type { Target } from './outcome.ts'
import { type AttemptRecord, attemptRecord, type Skip, skipRecord } from './records.ts'

interface AttemptTerms {
  context: { clock: Clock; catalog: Catalog; targetStats: TargetStats; observer: Observer }
  /** The id of the client's key; empty when it has none. */
  owner: string
  isStream: boolean
  follower: AttemptFollower | undefined
  /**
   * Called when the attempt has answered or failed; for a stream, when it has begun. `null`: the attempt was not made, since the whole request was
   * refused.
   */
  onOutcome(step: AttemptRecord | Skip | null): void
  /** Called when the attempt is over and its usage is known. */
  onSettled(record: AttemptRecord): void
}

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
  readonly #permit: CircuitPermit
  readonly #terms: AttemptTerms
  readonly #load: RunningCall
  #record: AttemptRecord | undefined = undefined
  #spending: Spending | undefined = undefined
  #following: { readonly usage: TokenUsage | undefined } | undefined = undefined
  #input: (() => number) | undefined = undefined // of the call under way
  #isSettled = false
  #isCut = false
  #isEmptyJudged = false // whether an empty answer counts against the target
  readonly #onSettled: Array<(record: AttemptRecord) => void> = []

  constructor({ route, permit }: Target, terms: AttemptTerms) {
    const { clock, targetStats } = terms.context
    this.route = route
    this.#permit = permit
    this.#terms = terms
    this.startedAt = clock.now()
    this.#load = targetStats.begin(route.target, terms.isStream)
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

  /** Headers by which a provider continues the trace. */
  traceHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#terms.follower?.headers?.()
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
    this.#following = this.#input = undefined
    if (usage) this.#spend(usage, { isEstimated: false })
  }

  /** Does the request use an option that costs more than the price of the model? */
  isDearer = false

  /** A provider is called. `input`: the tokens of the call's input, for when the provider does not report them. */
  called(input: () => number): void {
    this.#input = input
  }

  /** Counts an estimate when the provider has not reported all usage of the present call. `output`: the estimated tokens of its output. */
  estimated(usageOfStart: TokenUsage | undefined, output: number): void {
    const input = this.#input
    this.#following = this.#input = undefined
    if (this.#isSettled || !input) return
    const { costUsd: _, ...reported } = usageOfStart ?? { inputTokens: 0, outputTokens: 0 }
    this.#spend(
      {
        ...reported,
        inputTokens: reported.inputTokens || input(),
        outputTokens: Math.max(reported.outputTokens, Math.ceil(output)),
      },
      { isEstimated: true },
    )
  }

  #spend(usage: TokenUsage, { isEstimated }: { isEstimated: boolean }): void {
    const spending = spendingOf(usage, {
      catalog: this.#terms.context.catalog,
      target: this.route.target,
      isEstimated,
      isDearer: this.isDearer,
    })
    this.#spending = sumOfSpendings(this.#spending, spending)
  }

  /** A whole answer has come, or a stream has begun; `answerEnded` or `streamEnded` follows. */
  answered(kind: 'whole' | 'stream', status: number): void {
    if (kind === 'stream') this.#permit.beginStream()
    else this.#permit.succeed()
    this.#measure()
    this.#outcome({ outcome: 'answered', status })
    if (kind === 'stream') this.#terms.follower?.begun?.(this.#record?.durationMs ?? 0)
  }

  /** The client has a whole answer. */
  answerEnded(): void {
    this.#settle()
  }

  /** The stream is over. One that broke off counts by its error, unless it is an empty one, which is judged otherwise. */
  streamEnded({ usage, streamed, error, cancelled, fault }: StreamEnd): void {
    const { clock, observer } = this.#terms.context
    if (fault !== undefined) observer.onError(fault)
    else if (!this.#isEmptyJudged && error) {
      const failure = failureOfStream(error, clock.now())
      // The provider's message is not kept, as it may quote anything.
      this.#permit.breakOff({
        ...failure,
        message: `The stream broke off after it had begun (status ${error.status}).`,
      })
    } else if (!this.#isEmptyJudged && !cancelled) this.#permit.succeed()
    this.#isCut = error !== undefined && !cancelled
    if (streamed === undefined) this.used(usage)
    else this.estimated(usage, streamed)
    this.#settle()
  }

  /** `isEmpty`: the answer is all right, but empty; `emptyAnswerUsed` or `emptyAnswerDropped` follows. */
  failed(failure: Failure, { sentStatus, isEmpty }: { sentStatus: number | undefined; isEmpty: boolean }): void {
    const { class: outcome, message, upstreamStatus = failure.status } = failure
    if (outcome === 'internal') {
      this.#permit.drop()
      this.#terms.context.observer.onError(failure.cause)
    } else if (!isEmpty) this.#permit.fail({ ...failure, owner: this.#terms.owner })
    this.#outcome({ outcome, status: outcome === 'content' ? sentStatus || 200 : upstreamStatus, message })
    this.#settle()
  }

  /** The client no longer waits. */
  cancelled({ status }: GatewayError): void {
    if (this.#record) return
    this.#permit.drop()
    this.#outcome({ outcome: 'cancelled', status })
    const usage = this.#following?.usage
    if (usage) this.used(usage)
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

  /** A step did not let it call its provider. Its target counts as skipped, unless the whole request was refused. */
  refused({ status, message }: GatewayError, { isOfRequest } = { isOfRequest: false }): AttemptRecord {
    this.#permit.drop()
    this.#terms.onOutcome(isOfRequest ? null : skipRecord(this.route, 'refused'))
    return this.#settleUnlisted({ outcome: 'refused', status, message })
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
    this.#load.recordLatency(this.#terms.context.clock.now() - this.startedAt)
  }

  #outcome(result: AttemptResult): void {
    this.#record = this.#recordOf(result)
    this.#terms.onOutcome(this.#record)
  }

  /** The end of the attempt; only the first one counts. */
  #settle(): void {
    if (this.#isSettled || !this.#record) return
    if (this.#following) this.used(undefined)
    this.#isSettled = true
    this.#load.end()
    if (this.#spending) {
      this.#record = { ...this.#record, ...this.#spending }
      this.#terms.onSettled(this.#record)
    }
    for (const listener of this.#onSettled) listener(this.#record)
    const totalMs = this.#terms.context.clock.now() - this.startedAt
    this.#terms.follower?.ended?.(this.#record, { totalMs, isCut: this.#isCut })
  }

  /** The end of one that is not listed among the attempts of the request. */
  #settleUnlisted(result: AttemptResult): AttemptRecord {
    const record = this.#recordOf(result)
    this.#record = record
    this.#settle()
    return record
  }

  #recordOf(result: AttemptResult): AttemptRecord {
    const times = { startedAt: this.startedAt, now: this.#terms.context.clock.now() }
    return attemptRecord(this.route, times, result)
  }
}
