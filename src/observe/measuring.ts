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
import { type LabelSet, type Meter, type Metric, measures, OTHER, providerName, type Series } from './measures.ts'

/** Fills the measures from what happens. A series is looked up in the meter once, and then by a shorter key. */
export function createMeasuring(meter: Meter): GatewayObserver {
  const known = new Map<Metric, Map<string, Series>>()

  function seriesOf(measure: Metric, key: string, labels: () => LabelSet): Series {
    const family = known.get(measure) ?? new Map<string, Series>()
    known.set(measure, family)
    const found = family.get(key) ?? meter.series(measure, labels())
    if (family.size < MAX_KNOWN) family.set(key, found)
    return found
  }

  return { request: (request) => new MeasuredRequest(request, seriesOf) }
}

/** Finds the series of a measure; `key` stands for its labels, which are made only for a new one. */
type SeriesOf = (measure: Metric, key: string, labels: () => LabelSet) => Series

/** Above it series are asked of the meter each time: the gateway's own names are fewer. */
const MAX_KNOWN = 2_000

class MeasuredRequest implements RequestFollower {
  readonly #request: ObservedRequest
  readonly #seriesOf: SeriesOf
  readonly #operation: string
  #model = OTHER
  #isStream = false
  #hasBegun = false

  constructor(request: ObservedRequest, seriesOf: SeriesOf) {
    this.#request = request
    this.#seriesOf = seriesOf
    this.#operation = operationName(request.operation)
    this.#active(measures.requestsActive, 1)
  }

  asked({ model, isKnown, stream }: { model: string; isKnown: boolean; stream: boolean }): void {
    if (isKnown) this.#model = model
    this.#isStream = stream
    if (stream) this.#active(measures.streamsActive, 1)
  }

  attempt(attempt: ObservedAttempt): AttemptFollower {
    const begun = () => {
      if (this.#hasBegun) return
      this.#hasBegun = true
      return attempt.startedAt - this.#request.startedAt
    }
    return new MeasuredAttempt(attempt, {
      operation: this.#operation,
      kind: this.#request.kind,
      seriesOf: this.#seriesOf,
      onBegun: (afterMs) => {
        const before = begun()
        if (before !== undefined) this.#asked(measures.firstToken).add((before + afterMs) / 1_000)
      },
    })
  }

  ended(record: RequestRecord): void {
    this.#active(measures.requestsActive, -1)
    if (this.#isStream) this.#active(measures.streamsActive, -1)
    const { method, route, format } = this.#request
    const seconds = record.durationMs / 1_000
    this.#seriesOf(measures.httpDuration, `${method} ${record.status} ${route}`, () => ({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': String(record.status),
    })).add(seconds)
    this.#asked(measures.requestDuration, requestErrorType(record)).add(seconds)
    const reason = refusalReason(record)
    if (reason !== undefined) this.#seriesOf(measures.refused, reason, () => ({ 'signalbox.reason': reason })).add(1)
    if (record.attempts.length === 0) return
    this.#asked(measures.requestAttempts).add(record.attempts.length)
    this.#fallbacks(record)
    for (const warning of record.warnings ?? []) this.#loss(warning, format, record)
  }

  /** Each failed attempt that another one followed. */
  #fallbacks({ attempts, end }: RequestRecord): void {
    const recovered = String(end === 'complete')
    for (const { provider, outcome } of attempts.slice(0, -1)) {
      if (outcome === 'answered' || outcome === 'cancelled' || outcome === 'outrun' || outcome === 'refused') continue
      const name = providerName(provider)
      this.#seriesOf(measures.fallbacks, `${outcome} ${recovered} ${name}`, () => ({
        'gen_ai.provider.name': name,
        'signalbox.reason': outcome,
        'signalbox.recovered': recovered,
      })).add(1)
    }
  }

  #loss(warning: string, from: string, { attempts }: RequestRecord): void {
    const what = /^[a-z]+(?=:)/.exec(warning)?.[0] ?? OTHER
    const provider = providerName(attempts.at(-1)?.provider ?? OTHER)
    this.#seriesOf(measures.losses, `${what} ${from} ${provider}`, () => ({
      'signalbox.format.from': from,
      'gen_ai.provider.name': provider,
      'signalbox.loss': what,
    })).add(1)
  }

  #active(measure: Metric, by: 1 | -1): void {
    this.#seriesOf(measure, this.#operation, () => ({ 'gen_ai.operation.name': this.#operation })).add(by)
  }

  #asked(measure: Metric, errorType?: string): Series {
    const labels = { 'gen_ai.operation.name': this.#operation, 'signalbox.model': this.#model }
    return this.#seriesOf(measure, `${this.#operation} ${errorType} ${this.#model}`, () =>
      errorType === undefined ? labels : { ...labels, 'error.type': errorType },
    )
  }
}

interface MeasuredTerms {
  operation: string
  kind: ObservedRequest['kind']
  seriesOf: SeriesOf
  onBegun(afterMs: number): void
}

class MeasuredAttempt implements AttemptFollower {
  readonly #attempt: ObservedAttempt
  readonly #terms: MeasuredTerms
  readonly #provider: string
  readonly #model: string

  constructor(attempt: ObservedAttempt, terms: MeasuredTerms) {
    this.#attempt = attempt
    this.#terms = terms
    this.#provider = providerName(attempt.provider)
    this.#model = attempt.isKnown ? attempt.model : OTHER
  }

  begun(afterMs: number): void {
    this.#target(measures.firstChunk).add(afterMs / 1_000)
    this.#terms.onBegun(afterMs)
  }

  ended(record: AttemptRecord, end: AttemptEnd): void {
    const { outcome } = record
    if (outcome === 'refused') return
    const errorType = attemptErrorType(record, end)
    this.#target(durationOf(this.#terms.kind, this.#terms.operation), errorType).add(end.totalMs / 1_000)
    this.#terms
      .seriesOf(measures.attempts, `${outcome} ${this.#provider} ${this.#model}`, () => ({
        'gen_ai.provider.name': this.#provider,
        'gen_ai.request.model': this.#model,
        'signalbox.outcome': outcome,
      }))
      .add(1)
    if (this.#attempt.isHedge) {
      const won = String(outcome === 'answered')
      this.#terms.seriesOf(measures.hedges, won, () => ({ 'signalbox.won': won })).add(1)
    }
    this.#tokens(record, errorType)
    const { costUsd, costSource = 'counted' } = record
    if (costUsd === undefined) return
    this.#target(measures.cost, undefined, { 'signalbox.cost.source': costSource }).add(costUsd)
  }

  /** A failed attempt adds 0, so that its series exists. */
  #tokens({ usage }: AttemptRecord, errorType: string | undefined): void {
    const modality = { 'gen_ai.token.modality': 'unknown' }
    this.#target(measures.inputTokens, undefined, modality).add(usage?.inputTokens ?? 0)
    this.#target(measures.outputTokens, undefined, modality).add(usage?.outputTokens ?? 0)
    if (!usage) return
    const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
    if (cacheReadTokens) this.#target(measures.cacheReadTokens, undefined, modality).add(cacheReadTokens)
    if (cacheWriteTokens) this.#target(measures.cacheWriteTokens, undefined, modality).add(cacheWriteTokens)
    if (reasoningTokens) this.#target(measures.reasoningTokens, undefined, modality).add(reasoningTokens)
    this.#target(measures.inputSize, errorType).add(usage.inputTokens)
    this.#target(measures.outputSize, errorType).add(usage.outputTokens)
  }

  #target(measure: Metric, errorType?: string, more?: LabelSet): Series {
    const { operation, seriesOf } = this.#terms
    const extra = more ? Object.values(more)[0] : errorType
    return seriesOf(measure, `${operation} ${extra} ${this.#provider} ${this.#model}`, () => ({
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': this.#provider,
      'gen_ai.request.model': this.#model,
      ...(errorType !== undefined && { 'error.type': errorType }),
      ...more,
    }))
  }
}

/** The conventions have one name for conversations, one for embeddings, and one for all else. */
function durationOf(kind: ObservedRequest['kind'], operation: string): Metric {
  if (kind === 'embedding') return measures.embeddingsDuration
  return operation === 'chat' || operation === 'text_completion' || operation === 'compact'
    ? measures.inferenceDuration
    : measures.operationDuration
}
