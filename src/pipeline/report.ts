import type { TokenUsage } from '../formats/format.ts'
import type { Exchange } from '../lib/exchange.ts'
import type { Route, RouteTarget } from '../routing/group.ts'
import { viaOf } from '../routing/via.ts'
import type { PresentedKey } from '../store/keyring.ts'
import { costOf, type UsageRecord } from '../usage/record.ts'
import type { Stop } from './attempt-plan.ts'
import { type AttemptRecord, attemptRecord, type LeftOutEntry, type Skip, type Step } from './attempt-record.ts'
import type { ModelCall } from './call.ts'
import type { PipelineContext } from './context.ts'

/** The record of one model request, as the hook `onRequest` gets it. */
export interface RequestRecord {
  /** The id of the client's key; absent when the request carried none. */
  keyId?: string
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
  /** Why no other target was tried though there was one. */
  stopped?: Stop
  /**
   * What was lost in translation, as `x-signalbox-warning` tells it, of a stream also what was lost behind its headers; absent when
   * nothing was.
   */
  warnings?: readonly string[]
}

/** Collects the record of one model request and passes it to the observer; the end exactly once. */
export interface Report {
  /** Attempts, skipped targets and left-out entries, in the order in which the request came to them. */
  readonly steps: readonly Step[]
  asked(call: Asked): void
  /** Records the beginning of an attempt. */
  begin(): Begun
  /** Records its end: an answer, a failure, or that the client no longer waits. */
  attempted(route: Route, begun: Begun, result: AttemptEnd): void
  /** Records a target that was skipped because of an earlier failure of that class, or as its connection is draining. */
  skipped(route: Route, because: Skip['skipped']): void
  /** Records an entry of a combo that was left out, by the part of its condition that does not hold, such as `when.tools`. */
  leftOut(entry: string, skipped: string, via: string): void
  /** Records why no other target is tried. */
  stopped(why: Stop): void
  /** Records the end of the request. */
  ended(status: number, answered?: Answered): void
}

/** What is known of a request that was answered. */
export interface Answered {
  target: RouteTarget
  usage: TokenUsage | undefined
  /** What was lost in translation. */
  warnings: readonly string[]
}

/** An attempt under way: when it began (epoch ms), and its index among the steps. */
export interface Begun {
  at: number
  place: number
}

/** How an attempt ended. */
export type AttemptEnd = Pick<AttemptRecord, 'outcome' | 'status' | 'message'>

/** The parts of a call that the report needs. Not the body, which may be large and would live as long as the stream. */
type Asked = Pick<ModelCall, 'model' | 'stream' | 'endpoint'>

/** Starts the report of a request; `key` is the client's, if it has one. */
export const createReport = (exchange: Exchange, key: PresentedKey | undefined, context: PipelineContext): Report =>
  new RequestReport(exchange, key, context)

/** The report of one request. */
class RequestReport implements Report {
  readonly steps: Step[] = []
  readonly #requestedAt: number
  readonly #places: number[] = [] // of the steps
  readonly #path: string
  readonly #waitUntil: Exchange['waitUntil']
  readonly #keyId: string | undefined
  readonly #context: Pick<PipelineContext, 'clock' | 'observer' | 'catalog'>
  #reached = 0
  #call: Asked | undefined = undefined
  #stop: Stop | undefined = undefined
  #over = false

  constructor(exchange: Exchange, key: PresentedKey | undefined, context: PipelineContext) {
    this.#requestedAt = context.clock.now()
    this.#path = exchange.path
    this.#waitUntil = exchange.waitUntil
    this.#keyId = key?.id
    this.#context = context
  }

  asked({ model, stream, endpoint }: Asked): void {
    this.#call = { model, stream, endpoint }
  }

  begin(): Begun {
    return { at: this.#context.clock.now(), place: this.#reached++ }
  }

  attempted(route: Route, { at, place }: Begun, result: AttemptEnd): void {
    const context = this.#context
    const record = attemptRecord(route, { startedAt: at, now: context.clock.now() }, result)
    this.#add(record, place)
    context.observer.onAttempt(() => record, this.#waitUntil)
  }

  skipped({ target: { provider, model, connection }, via }: Route, skipped: Skip['skipped']): void {
    const step: Skip = { provider, connectionId: connection.id, model, skipped, ...(via && { via: viaOf(via) }) }
    this.#add(step, this.#reached++)
  }

  leftOut(entry: string, skipped: string, via: string): void {
    this.#add({ entry, skipped, via }, this.#reached++)
  }

  stopped(why: Stop): void {
    this.#stop = why
  }

  ended(status: number, answered?: Answered): void {
    if (this.#over) return
    this.#over = true
    const { clock, observer } = this.#context
    const durationMs = clock.now() - this.#requestedAt
    const call = this.#call
    if (call && answered) observer.onUsage(() => this.#usage(call, answered, durationMs), this.#waitUntil)
    observer.onRequest(() => this.#request(status, durationMs, answered?.warnings), this.#waitUntil)
  }

  #add(step: Step, place: number): void {
    const { steps } = this
    const places = this.#places
    let at = steps.length
    while (at > 0 && Number(places[at - 1]) > place) at--
    if (at === steps.length) {
      steps.push(step) // nearly always, and in a fraction of the time
      places.push(place)
      return
    }
    steps.splice(at, 0, step)
    places.splice(at, 0, place)
  }

  /** What is known: most requests have a key, many have counts, some have a price. */
  #usage({ model, stream, endpoint }: Asked, { target, usage }: Answered, durationMs: number): UsageRecord {
    const record: UsageRecord = {
      requestedModel: model,
      provider: target.provider,
      connectionId: target.connection.id,
      model: target.model,
      format: endpoint.format,
      streamed: stream,
      startedAt: this.#requestedAt,
      durationMs,
    }
    if (this.#keyId !== undefined) record.keyId = this.#keyId
    if (!usage) return record
    Object.assign(record, usage)
    const costUsd = costOf(this.#context.catalog, target, usage)
    if (costUsd !== undefined) record.costUsd = costUsd
    return record
  }

  #request(status: number, durationMs: number, warnings: readonly string[] | undefined): RequestRecord {
    const { steps } = this
    const call = this.#call
    const attempts = steps.filter(isAttempt)
    const stop = this.#stop
    const record: RequestRecord = {
      path: this.#path,
      startedAt: this.#requestedAt,
      durationMs,
      status,
      streamed: call?.stream ?? false,
      attempts,
    }
    if (this.#keyId !== undefined) record.keyId = this.#keyId
    if (call) record.model = call.model
    if (steps.length > attempts.length) record.skipped = steps.filter(isSkipped)
    if (stop) record.stopped = stop
    if (warnings?.length) record.warnings = warnings
    return record
  }
}

const isAttempt = (step: Step): step is AttemptRecord => 'outcome' in step
const isSkipped = (step: Step): step is Skip | LeftOutEntry => 'skipped' in step
