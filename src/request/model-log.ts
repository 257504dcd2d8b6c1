import { redactClientKeys } from '../errors.ts'
import type { ByteStream, Exchange } from '../lib/exchange.ts'
import type { JsonObject } from '../lib/json.ts'
import { addSpending, type Spending } from '../pricing/cost.ts'
import { getEndUser } from '../protocols/formats/end-user.ts'
import type { Endpoint } from '../protocols/formats/format.ts'
import type { Catalog } from '../types.ts'
import { AttemptLog, type StartedCodec } from './attempt-log.ts'
import type { StreamEnd } from './codec/relay.ts'
import {
  type AttemptRecord,
  createSkipRecord,
  type ExcludedEntry,
  type RequestRecord,
  type Skip,
  type StepRecord,
  type StopReason,
} from './hook-records.ts'
import type { Target } from './outcome.ts'
import { type LogContext, type RequestEnding, RequestLog } from './request-log.ts'
import type { Route, RouteTarget } from './routing/group.ts'
import { isKnownName, isKnownTarget } from './routing/known-models.ts'
import type { RouteTable } from './routing/route-table.ts'
import type { TargetStats } from './routing/target-stats.ts'

/** The dependencies of a model request's log. */
export interface ModelLogContext extends LogContext {
  pinCatalog(): Catalog
  targetStats: TargetStats
  onError(error: unknown): void
}

/** The attempt in flight. */
interface AttemptInFlight extends StartedCodec {
  route: Route
}

/** The response that the client gets. */
interface ServedResponse {
  target: RouteTarget
  /** Returns the fields that translation dropped; for a stream, the ones dropped so far. */
  warnings(): readonly string[]
}

/** The log of one model request: its attempts and their outcomes. Target health, statistics, and attempt headers get their data from here. */
export class ModelLog extends RequestLog {
  /** The attempt in flight; the latest one if a combo hedges. */
  inFlight: AttemptInFlight | undefined = undefined
  declare readonly route: Endpoint
  /** Returns the headers that guards add to a call to a target, merged with its other `headers`. */
  declare getProviderHeaders?: (
    target: RouteTarget,
    headers: Readonly<Record<string, string>>,
  ) => Readonly<Record<string, string>>
  readonly context: ModelLogContext
  /** The catalog at the time the request arrived. */
  readonly catalog: Catalog
  readonly #steps: Array<StepRecord | undefined> = [] // in the order of `steps`; `undefined` for an attempt without an outcome
  readonly #attempts: AttemptLog[] = []
  readonly #startedAttempts: AttemptLog[] = []
  #table: RouteTable | undefined = undefined
  #model: string | undefined = undefined
  #user: string | undefined = undefined
  #isStream = false
  #stopReason: StopReason | undefined = undefined
  #servedResponse: ServedResponse | undefined = undefined

  constructor(exchange: Exchange, endpoint: Endpoint, context: ModelLogContext) {
    super(exchange, endpoint, context)
    this.context = context
    this.catalog = context.pinCatalog()
  }

  override get model(): string | undefined {
    return this.#model
  }

  override get user(): string | undefined {
    return this.#user
  }

  override get streamed(): boolean {
    return this.#isStream
  }

  override get steps(): readonly StepRecord[] {
    return this.#steps.filter((step) => step !== undefined)
  }

  override get attempts(): readonly AttemptLog[] {
    return this.#startedAttempts
  }

  override get target(): RouteTarget | undefined {
    return this.#servedResponse?.target
  }

  override get warnings(): readonly string[] {
    return (this.#servedResponse?.warnings() ?? []).map(redactClientKeys)
  }

  /** The spending on all attempts, including those without a response. */
  override get spending(): Spending | undefined {
    return this.#attempts.reduce<Spending | undefined>((sum, attempt) => addSpending(sum, attempt.spending), undefined)
  }

  /** Whether the requested model is a combo, an alias, or a known model. */
  get isKnownModel(): boolean {
    return this.#table !== undefined && isKnownName(this.#model ?? '', this.#table)
  }

  isKnownTarget(target: RouteTarget): boolean {
    return this.#table !== undefined && isKnownTarget(target, this.#table)
  }

  /** Records that the request has been read. Doesn't keep its body, because it may be large and would live as long as the stream. */
  recordRead({ model, stream, body }: { model: string; stream: boolean; body: JsonObject }): void {
    const user = getEndUser(this.route.format, body)
    this.#model = redactClientKeys(model)
    this.#user = user && redactClientKeys(user)
    this.#isStream = stream
  }

  /** Records that the request has been read, with the route table, which contains the models and names that the gateway knows. */
  finishReading(table: RouteTable): void {
    this.#table = table
    this.events.emit('read', this)
  }

  /** Starts the log for the next attempt, at the chosen target. */
  startAttempt(target: Target, { isHedge }: { isHedge: boolean }): AttemptLog {
    const attempt = new AttemptLog(target, { log: this, isHedge })
    this.#attempts.push(attempt)
    return attempt
  }

  /** Records that an attempt's provider is about to be called, and numbers the attempt, starting at 1. */
  recordAttempt(attempt: AttemptLog, { isPassThrough, warnings }: StartedCodec): void {
    const { route } = attempt
    const isBuffered = route.on?.some((condition) => condition !== 'content') // while it is buffered, the client needs keep-alives
    this.inFlight = { route, isPassThrough: isPassThrough && !isBuffered, warnings }
    attempt.number = this.#startedAttempts.push(attempt)
    attempt.stepIndex = this.#steps.push(undefined) - 1
    this.events.emit('attempting', attempt, this)
  }

  /** Records the outcome of an attempt; for a stream, its first content. */
  recordOutcome(attempt: AttemptLog, record: AttemptRecord): void {
    this.#steps[attempt.stepIndex] = record
    this.events.emit('responded', attempt, this)
  }

  /** Records that an attempt is over. `record` is absent if the attempt had no outcome. */
  recordSettled(attempt: AttemptLog, record: AttemptRecord | undefined): void {
    if (attempt.number === 0) return // the attempt's provider wasn't called
    if (record) this.#steps[attempt.stepIndex] = record
    this.events.emit('settled', attempt, this)
  }

  /**
   * Records that a target is skipped because of an earlier failure with that class, because a step rejects it, or because its connection is draining.
   */
  recordSkip(route: Route, reason: Skip['skipped']): void {
    this.#skip(createSkipRecord(route, reason))
  }

  /** Records that a combo entry is excluded, by the part of its condition that doesn't match, such as `when.tools`. */
  recordExclusion(entry: string, skipped: string, via: string): void {
    this.#skip({ entry, skipped, via })
  }

  #skip(step: Skip | ExcludedEntry): void {
    this.#steps.push(step)
    this.events.emit('skipped', step, this)
  }

  /** Records why no further target is tried, although there is one. */
  recordStopReason(reason: StopReason): void {
    this.#stopReason = reason
  }

  /** Records that the client gets a target's response. */
  recordReply(response: ServedResponse): void {
    this.inFlight = undefined
    this.#servedResponse = response
  }

  /** Records that the response's stream has ended and its total usage is known. `status` is the reply's status. */
  recordStreamEnd(
    stream: ByteStream,
    { error, gatewayError, isCancelled }: Pick<StreamEnd, 'error' | 'gatewayError' | 'isCancelled'>,
    status: number,
  ): void {
    const end = isCancelled ? 'aborted' : error ? 'cut' : 'complete'
    const reason = end === 'cut' && gatewayError && { error: gatewayError.code, reason: gatewayError.message }
    const ending = isCancelled ? 499 : (error?.status ?? status)
    this.reportEnd(stream, { status: ending, end, ...(ending !== status && { sentStatus: status }), ...reason })
  }

  protected override release(): void {
    for (const attempt of this.#attempts) attempt.release()
  }

  protected override createRecord(ending: RequestEnding & { durationMs: number }): RequestRecord {
    const record = super.createRecord(ending)
    const attempts: AttemptRecord[] = []
    const skipped: Array<Skip | ExcludedEntry> = []
    for (const step of this.#steps) {
      if (!step) continue
      if ('outcome' in step) attempts.push(step)
      else skipped.push(step)
    }
    record.attempts = attempts
    if (this.#model !== undefined) record.model = this.#model
    if (skipped.length > 0) record.skipped = skipped
    if (this.#stopReason) record.stopped = this.#stopReason
    const lastPromptCache = attempts.findLast(({ promptCache }) => promptCache)?.promptCache
    if (lastPromptCache) record.promptCache = lastPromptCache
    const { warnings, spending } = this
    if (warnings.length > 0) record.warnings = warnings
    if (!spending) return record
    record.usage = spending.usage
    record.costSource = spending.costSource
    if (spending.costUsd !== undefined) record.costUsd = spending.costUsd
    return record
  }
}
