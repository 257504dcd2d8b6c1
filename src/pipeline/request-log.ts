import type { StreamEnd } from '../codec/relay.ts'
import { type ErrorCode, toGatewayError } from '../errors.ts'
import { endUserOf } from '../formats/end-user.ts'
import type { Endpoint } from '../formats/format.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Route, RouteTarget } from '../routing/group.ts'
import { isKnownName, isKnownTarget } from '../routing/known-models.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { TargetStats } from '../routing/target-stats.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Catalog, Clock } from '../types.ts'
import { type Spending, sumOfSpendings } from '../usage/cost.ts'
import { requestIdAt } from '../usage/kept/record.ts'
import type { UsageRecord } from '../usage/record.ts'
import { AttemptLog } from './attempt-log.ts'
import { Client } from './client.ts'
import type { Follow } from './following.ts'
import type { Observer } from './hooks.ts'
import { type EndedRequest, type KeepRequest, keptRequest } from './kept-request.ts'
import type { Live } from './live.ts'
import { type AttemptFollower, isObservedHeader, type RequestFollower } from './observing.ts'
import type { Target } from './outcome.ts'
import {
  type AttemptRecord,
  type LeftOutEntry,
  type RequestEnd,
  type RequestRecord,
  type Skip,
  type StepRecord,
  type Stop,
  skipRecord,
} from './records.ts'
import type { AttemptStep, NameRule, TargetRule } from './steps.ts'

/** What a log depends on. */
export interface LogContext {
  clock: Clock
  catalog: Catalog
  targetStats: TargetStats
  inFlight: InFlight
  observer: Observer
  /** Starts what follows a request; absent where nothing does. */
  follow: Follow | undefined
  /** Keeps what became of requests; absent where nothing is kept. */
  keepRequest?: KeepRequest | undefined
  /** The receiver of the live events of requests. */
  live: Live
}

/** The attempt that is under way, without its codec, which holds the body of the request. */
interface Trying {
  route: Route
  isPassThrough: boolean
  /** What the translation for its target loses. */
  warnings(): readonly string[]
}

/** The answer that the client gets. */
interface GivenAnswer {
  target: RouteTarget
  /** What was lost in translation, of a stream up to now. */
  warnings(): readonly string[]
}

/** How a request ended; `reason`: the message of its error. */
interface RequestEnding {
  status: number
  end: RequestEnd
  error?: ErrorCode
  reason?: string
}

/**
 * The log of one request to a model endpoint, from its arrival to its last byte: its client, its attempts and its outcome. The health of targets,
 * their statistics, the steps, the host's hooks and the attempts in headers get what they need from here.
 */
export class RequestLog {
  /** A UUID; ids are in the order in which requests came. */
  readonly id: string
  readonly client: Client
  /** The attempt that is under way; the latest, where a combo hedges. */
  trying: Trying | undefined = undefined
  /** Steps around the attempts of this request alone, within those of the gateway; a step around the request adds them before the request is read. */
  readonly aroundAttempt: AttemptStep[] = []
  /** Which targets the request may use; absent: all. */
  targetRule: TargetRule | undefined = undefined
  /** Which names a list of the request may have; absent: all. */
  nameRule: NameRule | undefined = undefined
  readonly #context: LogContext
  readonly #endpoint: Endpoint
  readonly #startedAt: number
  readonly #steps: Array<StepRecord | null | undefined> = [] // in the order of `steps`; `undefined`: an attempt without an outcome, `null`: none
  readonly #path: string
  readonly #waitUntil: Exchange['waitUntil']
  readonly #attempts: AttemptLog[] = []
  readonly #onEnd: Array<(record: RequestRecord) => void> = []
  readonly #follower: RequestFollower | undefined
  #table: RouteTable | undefined = undefined
  #model: string | undefined = undefined
  #user: string | undefined = undefined
  #isStream = false
  #stop: Stop | undefined = undefined
  #answer: GivenAnswer | undefined = undefined
  #isOver = false

  constructor(exchange: Exchange, endpoint: Endpoint, context: LogContext) {
    this.client = new Client(exchange, this, context)
    this.#context = context
    this.#endpoint = endpoint
    this.#startedAt = context.clock.now()
    this.id = requestIdAt(this.#startedAt, crypto.randomUUID())
    this.#path = exchange.path
    this.#waitUntil = exchange.waitUntil
    const observed = {
      id: this.id,
      method: exchange.method,
      route: endpoint.path,
      path: exchange.path,
      format: endpoint.format,
      operation: endpoint.operation.name,
      kind: endpoint.operation.kind,
      startedAt: this.#startedAt,
      header: (name: string) => (isObservedHeader(name) ? exchange.header(name) : undefined),
    }
    this.#follower = context.follow?.(observed, exchange.waitUntil)
  }

  /** The client's key, once it is known, a paused one too. */
  get key(): PresentedKey | undefined {
    return this.client.key
  }

  /** Attempts that have an outcome, skipped targets and left-out entries, in the order in which the request came to them. */
  get steps(): readonly StepRecord[] {
    return this.#steps.filter((step) => step !== undefined && step !== null)
  }

  /** The request has been read. Its body is not kept: it may be large, and would live as long as the stream. */
  asked({ model, stream, body }: { model: string; stream: boolean; body: JsonObject }): void {
    this.#model = model
    this.#user = endUserOf(this.#endpoint.format, body)
    this.#isStream = stream
    this.#context.live.tell?.('began', this)
  }

  /** The models and names that the gateway knows are at hand. */
  routed(table: RouteTable): void {
    const follower = this.#follower
    if (!follower) return
    const model = this.#model ?? ''
    this.#table = table
    follower.asked?.({ model, isKnown: isKnownName(model, table), stream: this.#isStream })
  }

  /** An attempt begins. */
  attempt(target: Target, codec: Omit<Trying, 'route'>, { isHedge } = { isHedge: false }): AttemptLog {
    const place = this.#steps.push(undefined) - 1
    const isHeldBack = target.route.on?.includes('schema') // so that its client has to hear that the gateway is there
    const isPassThrough = codec.isPassThrough && !isHeldBack
    this.trying = { route: target.route, isPassThrough, warnings: codec.warnings }
    const attempt = new AttemptLog(target, {
      context: this.#context,
      owner: this.key?.id ?? '',
      isStream: this.#isStream,
      follower: this.#followAttempt(target, { isHedge }),
      onOutcome: (step) => {
        this.#steps[place] = step
        if (!step) return
        if (!('outcome' in step)) return this.#context.live.tell?.('skipped', this, step)
        this.#context.live.tell?.('attempt', this, attempt)
        this.#context.observer.onAttempt(() => step, this.#waitUntil)
      },
      onSettled: (step) => {
        this.#steps[place] = step
      },
    })
    this.#attempts.push(attempt)
    this.#context.live.tell?.('attempt', this, attempt)
    return attempt
  }

  #followAttempt({ route: { target } }: Target, { isHedge }: { isHedge: boolean }): AttemptFollower | undefined {
    const table = this.#table
    if (!table) return undefined
    return this.#follower?.attempt?.({
      number: this.#attempts.length + 1,
      isHedge,
      provider: target.provider,
      connectionId: target.connection.id,
      format: target.format,
      model: target.model,
      isKnown: isKnownTarget(target, table),
      baseUrl: target.baseUrl ?? '',
      startedAt: this.#context.clock.now(),
    })
  }

  /** A target is skipped because of an earlier failure of that class, or as its connection is draining. */
  skipped(route: Route, why: Skip['skipped']): void {
    this.#skip(skipRecord(route, why))
  }

  /** An entry of a combo is left out, by the part of its condition that does not hold, such as `when.tools`. */
  leftOut(entry: string, skipped: string, via: string): void {
    this.#skip({ entry, skipped, via })
  }

  #skip(step: Skip | LeftOutEntry): void {
    this.#steps.push(step)
    this.#context.live.tell?.('skipped', this, step)
  }

  /** No other target is tried, though there is one. */
  stopped(why: Stop): void {
    this.#stop = why
  }

  /** The client gets the answer of a target. */
  answerGiven(answer: GivenAnswer): void {
    this.trying = undefined
    this.#answer = answer
  }

  /** The stream that the client gets is over, and all that was spent for it is known. `status`: that of its reply. */
  streamEnded({ error, ended, cancelled }: Pick<StreamEnd, 'error' | 'ended' | 'cancelled'>, status: number): void {
    const end = cancelled ? 'aborted' : error ? 'cut' : 'complete'
    const why = end === 'cut' && ended && { error: ended.code, reason: ended.message }
    this.#end({ status: cancelled ? 499 : (error?.status ?? status), end, ...why })
  }

  /** The client gets a reply that is not streamed. */
  replied(status: number): void {
    this.#end({ status, end: this.#answer || status < 400 ? 'complete' : 'failed' })
  }

  /** The client gets an error of the gateway. */
  failed(thrown: unknown): void {
    const { code, status, message } = toGatewayError(thrown)
    const isRefused = !this.#steps.some((step) => step === undefined || (step && 'outcome' in step))
    this.#end({
      status,
      error: code,
      reason: message,
      end: code === 'CLIENT_CLOSED_REQUEST' ? 'aborted' : isRefused ? 'refused' : 'failed',
    })
  }

  /** Calls `listener` with the record when the request is over, before the host's hooks. */
  onEnd(listener: (record: RequestRecord) => void): void {
    this.#onEnd.push(listener)
  }

  /**
   * The only end of a request: it frees the client and the targets that are still held for it, and reports what became of it. Only the first
   * call counts.
   */
  #end(ending: RequestEnding): void {
    if (this.#isOver) return
    this.#isOver = true
    this.client.release()
    for (const attempt of this.#attempts) attempt.release()
    const { clock, observer, keepRequest, live } = this.#context
    const course: RequestCourse = Object.assign(ending, {
      durationMs: clock.now() - this.#startedAt,
      spending: this.#spending(),
    })
    if (this.#onEnd.length > 0) {
      const record = this.#record(course)
      for (const listener of this.#onEnd) listener(record)
    }
    if (keepRequest || live.tell) {
      const { status, end, error, reason, durationMs } = course
      const kept = keptRequest(Object.assign(this.facts(), { status, end, error, reason, durationMs }))
      keepRequest?.(kept, this.#waitUntil)
      live.tell?.('finished', kept)
    }
    const answer = this.#answer
    if (answer) observer.onUsage(() => this.#usage(answer, course), this.#waitUntil)
    observer.onRequest(() => this.#record(course), this.#waitUntil)
    this.#follower?.ended?.(this.#record(course))
  }

  /** What all attempts have used, those too that brought no answer. */
  #spending(): Spending | undefined {
    return this.#attempts.reduce<Spending | undefined>((sum, one) => sumOfSpendings(sum, one.spending), undefined)
  }

  /** What is known: most requests have a key, many have counts, some have a price. */
  #usage({ target }: GivenAnswer, { durationMs, spending }: RequestCourse): UsageRecord {
    const record: UsageRecord = {
      requestedModel: this.#model ?? '',
      provider: target.provider,
      connectionId: target.connection.id,
      model: target.model,
      format: this.#endpoint.format,
      streamed: this.#isStream,
      startedAt: this.#startedAt,
      durationMs,
    }
    if (this.key) record.keyId = this.key.id
    if (!spending) return record
    const { usage, ...cost } = spending
    return Object.assign(record, usage, cost)
  }

  /** The attempts that have begun, in that order. */
  get attempts(): readonly AttemptLog[] {
    return this.#attempts
  }

  /** What is known of the request up to now. */
  facts(): Omit<EndedRequest, 'durationMs' | 'status' | 'end' | 'error' | 'reason'> {
    const answer = this.#answer
    return {
      id: this.id,
      startedAt: this.#startedAt,
      endpoint: this.#endpoint,
      key: this.key,
      user: this.#user,
      model: this.#model,
      streamed: this.#isStream,
      steps: this.#steps,
      target: answer?.target,
      warnings: answer?.warnings() ?? [],
    }
  }

  #record({ status, end, error, durationMs, spending }: RequestCourse) {
    const attempts: AttemptRecord[] = []
    const skipped: Array<Skip | LeftOutEntry> = []
    for (const step of this.#steps) {
      if (!step) continue
      if ('outcome' in step) attempts.push(step)
      else skipped.push(step)
    }
    const warnings = this.#answer?.warnings() ?? []
    const record: RequestRecord = {
      id: this.id,
      path: this.#path,
      startedAt: this.#startedAt,
      durationMs,
      status,
      end,
      streamed: this.#isStream,
      attempts,
    }
    if (error) record.error = error
    if (this.key) record.keyId = this.key.id
    if (this.key?.group) record.groupId = this.key.group.id
    if (this.#model !== undefined) record.model = this.#model
    if (skipped.length > 0) record.skipped = skipped
    if (this.#stop) record.stopped = this.#stop
    if (warnings.length > 0) record.warnings = warnings
    if (spending) {
      record.usage = spending.usage
      record.costSource = spending.costSource
      if (spending.costUsd !== undefined) record.costUsd = spending.costUsd
    }
    return record
  }
}

/** How a request went. */
interface RequestCourse extends RequestEnding {
  durationMs: number
  spending: Spending | undefined
}
