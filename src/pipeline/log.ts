import type { GatewayError } from '../errors.ts'
import type { TokenUsage } from '../formats/format.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { Route, RouteTarget } from '../routing/group.ts'
import { viaOf } from '../routing/group.ts'
import type { CircuitPermit } from '../routing/permit.ts'
import type { RunningCall, TargetStats } from '../routing/target-stats.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Catalog, Clock } from '../types.ts'
import { costOf, type UsageRecord } from '../usage/record.ts'
import type { ModelCall } from './call.ts'
import { type Failure, failureOfStream, type StreamEnd } from './failure.ts'
import type { Observer } from './hooks.ts'
import {
  type AttemptRecord,
  attemptRecord,
  type LeftOutEntry,
  type RequestRecord,
  type RequestStep,
  type Skip,
  type Stop,
} from './records.ts'

/** What a log depends on. */
export interface LogContext {
  clock: Clock
  catalog: Catalog
  targetStats: TargetStats
  observer: Observer
}

/** The parts of a target that a log keeps; not its codec, which holds the body of the request. */
export interface LoggedTarget {
  route: Route
  permit: CircuitPermit
}

/** What is known of a request that was answered. */
export interface AnsweredRequest {
  target: RouteTarget
  usage: TokenUsage | undefined
  /** What was lost in translation. */
  warnings: readonly string[]
}

/** The parts of a call that the log keeps. Not the body, which may be large and would live as long as the stream. */
type LoggedCall = Pick<ModelCall, 'model' | 'stream' | 'endpoint'>

/** All that happens to one model request. The health of targets, their statistics and the host's hooks get what they need from here. */
export class RequestLog {
  readonly context: LogContext
  readonly #startedAt: number
  readonly #steps: Array<RequestStep | undefined> = [] // in the order of `steps`; `undefined`: an attempt that has not ended
  readonly #path: string
  readonly #waitUntil: Exchange['waitUntil']
  readonly #keyId: string | undefined
  #call: LoggedCall | undefined = undefined
  #stop: Stop | undefined = undefined
  #isOver = false

  constructor(exchange: Exchange, key: PresentedKey | undefined, context: LogContext) {
    this.context = context
    this.#startedAt = context.clock.now()
    this.#path = exchange.path
    this.#waitUntil = exchange.waitUntil
    this.#keyId = key?.id
  }

  /** Attempts that have ended, skipped targets and left-out entries, in the order in which the request came to them. */
  get steps(): readonly RequestStep[] {
    return this.#steps.filter((step) => step !== undefined)
  }

  /** The request has been read. */
  asked({ model, stream, endpoint }: LoggedCall): void {
    this.#call = { model, stream, endpoint }
  }

  /** An attempt begins; `owner`: the id of the client's key. */
  attempt(target: LoggedTarget, { owner }: { owner: string }): AttemptLog {
    const place = this.#steps.push(undefined) - 1
    return new AttemptLog(target, {
      context: this.context,
      owner,
      isStream: this.#call?.stream ?? false,
      onEnd: (record) => this.#attempted(record, place),
    })
  }

  /** A target is skipped because of an earlier failure of that class, or as its connection is draining. */
  skipped({ target: { provider, model, connection }, via }: Route, skipped: Skip['skipped']): void {
    const step: Skip = { provider, connectionId: connection.id, model, skipped, ...(via && { via: viaOf(via) }) }
    this.#steps.push(step)
  }

  /** An entry of a combo is left out, by the part of its condition that does not hold, such as `when.tools`. */
  leftOut(entry: string, skipped: string, via: string): void {
    this.#steps.push({ entry, skipped, via })
  }

  /** No other target is tried, though there is one. */
  stopped(why: Stop): void {
    this.#stop = why
  }

  /** The request is over; only the first call counts. */
  ended(status: number, answered?: AnsweredRequest): void {
    if (this.#isOver) return
    this.#isOver = true
    const { clock, observer } = this.context
    const durationMs = clock.now() - this.#startedAt
    const call = this.#call
    if (call && answered) observer.onUsage(() => this.#usage(call, answered, durationMs), this.#waitUntil)
    observer.onRequest(() => this.#request(status, durationMs, answered?.warnings), this.#waitUntil)
  }

  #attempted(record: AttemptRecord, place: number): void {
    this.#steps[place] = record
    this.context.observer.onAttempt(() => record, this.#waitUntil)
  }

  /** What is known: most requests have a key, many have counts, some have a price. */
  #usage({ model, stream, endpoint }: LoggedCall, { target, usage }: AnsweredRequest, durationMs: number): UsageRecord {
    const record: UsageRecord = {
      requestedModel: model,
      provider: target.provider,
      connectionId: target.connection.id,
      model: target.model,
      format: endpoint.format,
      streamed: stream,
      startedAt: this.#startedAt,
      durationMs,
    }
    if (this.#keyId !== undefined) record.keyId = this.#keyId
    if (!usage) return record
    Object.assign(record, usage)
    const costUsd = costOf(this.context.catalog, target, usage)
    if (costUsd !== undefined) record.costUsd = costUsd
    return record
  }

  #request(status: number, durationMs: number, warnings: readonly string[] | undefined): RequestRecord {
    const { steps } = this
    const call = this.#call
    const attempts = steps.filter(isAttempt)
    const record: RequestRecord = {
      path: this.#path,
      startedAt: this.#startedAt,
      durationMs,
      status,
      streamed: call?.stream ?? false,
      attempts,
    }
    if (this.#keyId !== undefined) record.keyId = this.#keyId
    if (call) record.model = call.model
    if (steps.length > attempts.length) record.skipped = steps.filter(isSkipped)
    if (this.#stop) record.stopped = this.#stop
    if (warnings?.length) record.warnings = warnings
    return record
  }
}

const isAttempt = (step: RequestStep): step is AttemptRecord => 'outcome' in step
const isSkipped = (step: RequestStep): step is Skip | LeftOutEntry => 'skipped' in step

interface AttemptTerms {
  context: LogContext
  owner: string
  isStream: boolean
  onEnd(record: AttemptRecord): void
}

/** How an attempt ended. */
type AttemptResult = Pick<AttemptRecord, 'outcome' | 'status' | 'message'>

/** All that happens to one attempt: one of `answered`, `failed`, `cancelled`, `superseded` ends it, once. */
export class AttemptLog {
  readonly #route: Route
  readonly #permit: CircuitPermit
  readonly #terms: AttemptTerms
  readonly #startedAt: number
  readonly #running: RunningCall
  #isOver = false
  #isSettled = false // whether an empty answer counts against the target

  constructor({ route, permit }: LoggedTarget, terms: AttemptTerms) {
    const { clock, targetStats } = terms.context
    this.#route = route
    this.#permit = permit
    this.#terms = terms
    this.#startedAt = clock.now()
    this.#running = targetStats.begin(route.target, terms.isStream)
  }

  /** A whole answer has come, or a stream has begun, which `streamEnded` ends. */
  answered(kind: 'whole' | 'stream', status: number): void {
    const permit = this.#permit
    if (kind === 'stream') permit.begun()
    else permit.answered()
    this.#measure()
    this.#end({ outcome: 'answered', status })
  }

  /** `isEmpty`: the answer is all right, but empty; `emptyAnswerUsed` or `emptyAnswerDropped` follows. */
  failed(failure: Failure, { sentStatus, isEmpty }: { sentStatus: number | undefined; isEmpty: boolean }): void {
    const permit = this.#permit
    const { class: outcome, message, upstreamStatus = failure.status } = failure
    if (outcome === 'internal') {
      permit.dropped()
      this.#terms.context.observer.onError(failure.cause)
    } else if (!isEmpty) permit.failed({ ...failure, owner: this.#terms.owner })
    this.#end({ outcome, status: outcome === 'content' ? sentStatus || 200 : upstreamStatus, message })
  }

  /** The client no longer waits. */
  cancelled({ status }: GatewayError): void {
    if (this.#isOver) return
    this.#permit.dropped()
    this.#end({ outcome: 'cancelled', status })
  }

  /** Another attempt was faster. */
  superseded(): void {
    this.#running.ended()
    this.#permit.dropped()
    if (this.#isOver) return // it has come to its end at the same moment
    this.#measure() // at least, or slow answers would count less the more of them there are
    this.#end({ outcome: 'outrun', status: 499 })
  }

  /** The client gets the empty answer, which then counts neither for nor against the target. */
  emptyAnswerUsed(failure: Failure): void {
    this.#isSettled = true
    this.#permit.failed({ ...failure, class: 'client' })
  }

  /** The client does not get the empty answer. */
  emptyAnswerDropped(failure: Failure): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#permit.failed(failure)
  }

  /** The stream is over. One that broke off counts by its error, unless it is an empty one, of which that is settled. */
  streamEnded({ error, cancelled, fault }: StreamEnd): void {
    const permit = this.#permit
    this.#running.ended()
    if (fault !== undefined) this.#terms.context.observer.onError(fault)
    else if (this.#isSettled) return
    else if (error) {
      const failure = failureOfStream(error, this.#terms.context.clock.now())
      // The provider's message is not kept, as it may quote anything.
      permit.cut({ ...failure, message: `The stream broke off after it had begun (status ${error.status}).` })
    } else if (!cancelled) permit.answered()
  }

  /** The target is no longer busy with the attempt: the last byte has been sent, or there is none to send. */
  released(): void {
    this.#running.ended()
  }

  #measure(): void {
    this.#running.answeredAfter(this.#terms.context.clock.now() - this.#startedAt)
  }

  #end(result: AttemptResult): void {
    this.#isOver = true
    const times = { startedAt: this.#startedAt, now: this.#terms.context.clock.now() }
    this.#terms.onEnd(attemptRecord(this.#route, times, result))
  }
}
