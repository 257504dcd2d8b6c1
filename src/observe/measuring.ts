import type {
  AttemptEnd,
  AttemptFollower,
  GatewayObserver,
  ObservedAttempt,
  ObservedRequest,
  RequestFollower,
} from '../pipeline/observing.ts'
import type { AttemptRecord, RequestRecord } from '../pipeline/records.ts'
import { attemptErrorType, operationName, refusalReason, requestErrorType } from './meanings.ts'
import {
  type LabelName,
  type LabelSet,
  type Meter,
  type Metric,
  measures,
  OTHER,
  providerName,
  type Series,
} from './measures.ts'

/** Fills the measures from what happens. */
export function createMeasuring(meter: Meter): GatewayObserver {
  const known = new KnownSeries(meter)
  return { request: (request) => new MeasuredRequest(request, known) }
}

/**
 * The series by what they are told of, so that labels are put together once for each of them, and no text is for a look-up: this is done several
 * times for each request.
 */
class KnownSeries {
  /** Those without a label that is common to them. */
  readonly all: SeriesGroup
  readonly #meter: Meter
  readonly #operations = new Map<string, SeriesGroup>()
  readonly #routes = new Map<string, Map<string, SeriesGroup>>()
  readonly #asked = new Map<string, Map<string, SeriesGroup>>()
  readonly #targets = new Map<string, Map<string, Map<string, SeriesGroup>>>()

  constructor(meter: Meter) {
    this.#meter = meter
    this.all = new SeriesGroup(meter, {})
  }

  operation(operation: string): SeriesGroup {
    return within(this.#operations, operation, () => this.#group({ 'gen_ai.operation.name': operation }))
  }

  route(method: string, route: string): SeriesGroup {
    return (
      this.#routes.get(method)?.get(route) ??
      within(within(this.#routes, method, newMap), route, () =>
        this.#group({ 'http.request.method': method, 'http.route': route }),
      )
    )
  }

  asked(operation: string, model: string): SeriesGroup {
    return (
      this.#asked.get(operation)?.get(model) ??
      within(within(this.#asked, operation, newMap), model, () =>
        this.#group({ 'gen_ai.operation.name': operation, 'signalbox.model': model }),
      )
    )
  }

  target(operation: string, provider: string, model: string): SeriesGroup {
    return (
      this.#targets.get(operation)?.get(provider)?.get(model) ??
      within(within(within(this.#targets, operation, newMap), provider, newMap), model, () =>
        this.#group({
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': providerName(provider),
          'gen_ai.request.model': model,
        }),
      )
    )
  }

  #group(labels: LabelSet): SeriesGroup {
    return new SeriesGroup(this.#meter, labels)
  }
}

const newMap = <T>() => new Map<string, T>()

/** The most names of one kind that are kept; above it series are asked of the meter each time. The gateway's own names are fewer. */
const MAX_KNOWN = 2_000

function within<T>(map: Map<string, T>, name: string, make: () => NoInfer<T>): T {
  const known = map.get(name)
  if (known !== undefined) return known
  const made = make()
  if (map.size < MAX_KNOWN) map.set(name, made)
  return made
}

/** The series that have some labels in common, and one more at most. */
class SeriesGroup {
  readonly #meter: Meter
  readonly #labels: LabelSet
  readonly #known = new Map<Metric, Map<string, Series>>()

  constructor(meter: Meter, labels: LabelSet) {
    this.#meter = meter
    this.#labels = labels
  }

  /** The series of a measure with its own label `name`, which is absent without a `value`. */
  of(measure: Metric, name?: LabelName, value = ''): Series {
    return this.#known.get(measure)?.get(value) ?? this.#first(measure, name, value)
  }

  #first(measure: Metric, name: LabelName | undefined, value: string): Series {
    const family = this.#known.get(measure) ?? new Map<string, Series>()
    this.#known.set(measure, family)
    return within(family, value, () => this.with(measure, name === undefined || value === '' ? {} : { [name]: value }))
  }

  /** The series of a measure with more labels; of the common ones it has those that are the measure's. */
  with(measure: Metric, more: LabelSet): Series {
    const labels: LabelSet = { ...this.#labels, ...more }
    const own = measure.labels.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]]))
    return this.#meter.series(measure, Object.fromEntries(own))
  }
}

class MeasuredRequest implements RequestFollower {
  readonly request: ObservedRequest
  readonly known: KnownSeries
  readonly operation: string
  readonly #group: SeriesGroup
  #model = OTHER
  #isStream = false
  #hasBegun = false

  constructor(request: ObservedRequest, known: KnownSeries) {
    this.request = request
    this.known = known
    this.operation = operationName(request.operation)
    this.#group = known.operation(this.operation)
    this.#group.of(measures.requestsActive).add(1)
  }

  asked({ model, isKnown, stream }: { model: string; isKnown: boolean; stream: boolean }): void {
    if (isKnown) this.#model = model
    if (!stream || this.#isStream) return
    this.#isStream = true
    this.#group.of(measures.streamsActive).add(1)
  }

  attempt(attempt: ObservedAttempt): AttemptFollower {
    return new MeasuredAttempt(attempt, this)
  }

  /** The first content of an attempt has come. */
  begun({ startedAt }: ObservedAttempt, afterMs: number): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#asked()
      .of(measures.firstToken)
      .add((startedAt - this.request.startedAt + afterMs) / 1_000)
  }

  ended(record: RequestRecord): void {
    const { known, request } = this
    this.#group.of(measures.requestsActive).add(-1)
    if (this.#isStream) this.#group.of(measures.streamsActive).add(-1)
    const seconds = record.durationMs / 1_000
    known
      .route(request.method, request.route)
      .of(measures.httpDuration, 'http.response.status_code', String(record.status))
      .add(seconds)
    const asked = this.#asked()
    asked.of(measures.requestDuration, 'error.type', requestErrorType(record)).add(seconds)
    const reason = refusalReason(record)
    if (reason !== undefined) known.all.of(measures.refused, 'signalbox.reason', reason).add(1)
    const { attempts, warnings } = record
    if (attempts.length === 0) return
    asked.of(measures.requestAttempts).add(attempts.length)
    if (attempts.length > 1) this.#fallbacks(record)
    if (warnings) for (const warning of warnings) this.#loss(warning, record)
  }

  /** Each failed attempt that another one followed. */
  #fallbacks({ attempts, end }: RequestRecord): void {
    for (const { provider, outcome } of attempts.slice(0, -1)) {
      if (outcome === 'answered' || outcome === 'cancelled' || outcome === 'outrun' || outcome === 'refused') continue
      const labels = {
        'gen_ai.provider.name': providerName(provider),
        'signalbox.reason': outcome,
        'signalbox.recovered': String(end === 'complete'),
      }
      this.known.all.with(measures.fallbacks, labels).add(1)
    }
  }

  #loss(warning: string, { attempts }: RequestRecord): void {
    const labels = {
      'signalbox.format.from': this.request.format,
      'gen_ai.provider.name': providerName(attempts.at(-1)?.provider ?? OTHER),
      'signalbox.loss': /^[a-z]+(?=:)/.exec(warning)?.[0] ?? OTHER,
    }
    this.known.all.with(measures.losses, labels).add(1)
  }

  #asked(): SeriesGroup {
    return this.known.asked(this.operation, this.#model)
  }
}

class MeasuredAttempt implements AttemptFollower {
  readonly #attempt: ObservedAttempt
  readonly #request: MeasuredRequest
  readonly #target: SeriesGroup

  constructor(attempt: ObservedAttempt, request: MeasuredRequest) {
    this.#attempt = attempt
    this.#request = request
    const model = attempt.isKnown ? attempt.model : OTHER
    this.#target = request.known.target(request.operation, attempt.provider, model)
  }

  begun(afterMs: number): void {
    this.#target.of(measures.firstChunk).add(afterMs / 1_000)
    this.#request.begun(this.#attempt, afterMs)
  }

  ended(record: AttemptRecord, end: AttemptEnd): void {
    const { outcome, usage, costUsd, costSource = 'counted' } = record
    if (outcome === 'refused') return
    const target = this.#target
    const errorType = attemptErrorType(record, end)
    const { request, operation, known } = this.#request
    target.of(durationOf(request.kind, operation), 'error.type', errorType).add(end.totalMs / 1_000)
    target.of(measures.attempts, 'signalbox.outcome', outcome).add(1)
    if (this.#attempt.isHedge) known.all.of(measures.hedges, 'signalbox.won', String(outcome === 'answered')).add(1)
    if (costUsd !== undefined) target.of(measures.cost, 'signalbox.cost.source', costSource).add(costUsd)
    // A failed attempt adds 0, so that its series exists.
    tokensByMedia(target, measures.inputTokens, [usage?.inputTokens, usage?.inputImageTokens, usage?.inputAudioTokens])
    tokensByMedia(target, measures.outputTokens, [
      usage?.outputTokens,
      usage?.outputImageTokens,
      usage?.outputAudioTokens,
    ])
    if (!usage) return
    const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
    if (cacheReadTokens) tokens(target, measures.cacheReadTokens, cacheReadTokens)
    if (cacheWriteTokens) tokens(target, measures.cacheWriteTokens, cacheWriteTokens)
    if (reasoningTokens) tokens(target, measures.reasoningTokens, reasoningTokens)
    target.of(measures.inputSize, 'error.type', errorType).add(usage.inputTokens)
    target.of(measures.outputSize, 'error.type', errorType).add(usage.outputTokens)
  }
}

const tokens = (target: SeriesGroup, measure: Metric, count: number, modality = 'unknown'): void =>
  target.of(measure, 'gen_ai.token.modality', modality).add(count)

/** Where a provider tells the tokens of images or sound apart, all others are text. */
function tokensByMedia(
  target: SeriesGroup,
  measure: Metric,
  [all = 0, image = 0, audio = 0]: ReadonlyArray<number | undefined>,
): void {
  if (image > 0) tokens(target, measure, image, 'image')
  if (audio > 0) tokens(target, measure, audio, 'audio')
  const rest = Math.max(0, all - image - audio)
  if (image + audio === 0) tokens(target, measure, rest)
  else if (rest > 0) tokens(target, measure, rest, 'text')
}

/** The conventions have one name for conversations, one for embeddings, and one for all else. */
function durationOf(kind: ObservedRequest['kind'], operation: string): Metric {
  if (kind === 'embedding') return measures.embeddingsDuration
  return operation === 'chat' || operation === 'text_completion' || operation === 'compact'
    ? measures.inferenceDuration
    : measures.operationDuration
}
