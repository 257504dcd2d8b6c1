import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import {
  getAttemptErrorType,
  getOperationName,
  getRejectionReason,
  getRequestErrorType,
  getSentStatus,
} from './meanings.ts'
import {
  getProviderName,
  type LabelName,
  type LabelSet,
  type Meter,
  type Metric,
  measures,
  OTHER_LABEL,
  type Series,
} from './measures.ts'
import type {
  AttemptEnd,
  AttemptFollower,
  GatewayObserver,
  ObservedAttempt,
  ObservedRequest,
  RequestFollower,
} from './observer.ts'

/** Creates the observer that records metrics. */
export function createMetricsObserver(meter: Meter): GatewayObserver {
  const cache = new SeriesCache(meter)
  return { request: (request) => new MeasuredRequest(request, cache) }
}

/**
 * Caches series by operation, route, model, and target. A request updates several series; if they are cached, the update doesn't allocate any labels
 * or strings.
 */
class SeriesCache {
  /** Series without shared labels. */
  readonly globalGroup: SeriesGroup
  readonly #meter: Meter
  readonly #operations = new Map<string, SeriesGroup>()
  readonly #routes = new Map<string, Map<string, SeriesGroup>>()
  readonly #models = new Map<string, Map<string, SeriesGroup>>()
  readonly #targets = new Map<string, Map<string, Map<string, SeriesGroup>>>()

  constructor(meter: Meter) {
    this.#meter = meter
    this.globalGroup = new SeriesGroup(meter, {})
  }

  getOperation(operation: string): SeriesGroup {
    return getOrAdd(this.#operations, operation, () => this.#createGroup({ 'gen_ai.operation.name': operation }))
  }

  getRoute(method: string, route: string): SeriesGroup {
    return (
      this.#routes.get(method)?.get(route) ??
      getOrAdd(getOrAdd(this.#routes, method, createMap), route, () =>
        this.#createGroup({ 'http.request.method': method, 'http.route': route }),
      )
    )
  }

  getModel(operation: string, model: string): SeriesGroup {
    return (
      this.#models.get(operation)?.get(model) ??
      getOrAdd(getOrAdd(this.#models, operation, createMap), model, () =>
        this.#createGroup({ 'gen_ai.operation.name': operation, 'signalbox.model': model }),
      )
    )
  }

  getTarget(operation: string, provider: string, model: string): SeriesGroup {
    return (
      this.#targets.get(operation)?.get(provider)?.get(model) ??
      getOrAdd(getOrAdd(getOrAdd(this.#targets, operation, createMap), provider, createMap), model, () =>
        this.#createGroup({
          'gen_ai.operation.name': operation,
          'gen_ai.provider.name': getProviderName(provider),
          'gen_ai.request.model': model,
        }),
      )
    )
  }

  #createGroup(labels: LabelSet): SeriesGroup {
    return new SeriesGroup(this.#meter, labels)
  }
}

const createMap = <T>() => new Map<string, T>()

/** Maximum number of cached names per map. Beyond that, the meter looks up each series. Only names chosen by clients can exceed this. */
const MAX_CACHED_GROUPS = 2_000

function getOrAdd<T>(map: Map<string, T>, name: string, create: () => NoInfer<T>): T {
  const existingValue = map.get(name)
  if (existingValue !== undefined) return existingValue
  const createdValue = create()
  if (map.size < MAX_CACHED_GROUPS) map.set(name, createdValue)
  return createdValue
}

/** Series that share labels and have at most one additional label. */
class SeriesGroup {
  readonly #meter: Meter
  readonly #labels: LabelSet
  readonly #series = new Map<Metric, Map<string, Series>>()

  constructor(meter: Meter, labels: LabelSet) {
    this.#meter = meter
    this.#labels = labels
  }

  /** Returns a metric's series with the additional label `name`, or without it if `value` is empty. */
  get(measure: Metric, name?: LabelName, value = ''): Series {
    return this.#series.get(measure)?.get(value) ?? this.#create(measure, name, value)
  }

  #create(measure: Metric, name: LabelName | undefined, value: string): Series {
    const family = this.#series.get(measure) ?? new Map<string, Series>()
    this.#series.set(measure, family)
    return getOrAdd(family, value, () =>
      this.getWith(measure, name === undefined || value === '' ? {} : { [name]: value }),
    )
  }

  /** Returns a metric's series with these additional labels and the shared labels that the metric has. */
  getWith(measure: Metric, extraLabels: LabelSet): Series {
    const labels: LabelSet = { ...this.#labels, ...extraLabels }
    const seriesLabels = measure.labels.flatMap((name) => (labels[name] === undefined ? [] : [[name, labels[name]]]))
    return this.#meter.getSeries(measure, Object.fromEntries(seriesLabels))
  }
}

class MeasuredRequest implements RequestFollower {
  readonly request: ObservedRequest
  readonly cache: SeriesCache
  readonly operation: string
  readonly #group: SeriesGroup
  #model = OTHER_LABEL
  #isStream = false
  #hasContent = false

  constructor(request: ObservedRequest, cache: SeriesCache) {
    this.request = request
    this.cache = cache
    this.operation = getOperationName(request.operation)
    this.#group = cache.getOperation(this.operation)
    this.#group.get(measures.requestsActive).add(1)
  }

  asked({ model, isKnown, stream }: { model: string; isKnown: boolean; stream: boolean }): void {
    if (isKnown) this.#model = model
    if (!stream || this.#isStream) return
    this.#isStream = true
    this.#group.get(measures.streamsActive).add(1)
  }

  attempt(attempt: ObservedAttempt): AttemptFollower {
    return new MeasuredAttempt(attempt, this)
  }

  /** Called when an attempt's first content arrives. */
  begun({ startedAt }: ObservedAttempt, afterMs: number): void {
    if (this.#hasContent) return
    this.#hasContent = true
    this.#getModelSeries()
      .get(measures.firstToken)
      .add((startedAt - this.request.startedAt + afterMs) / 1_000)
  }

  ended(record: RequestRecord): void {
    const { cache, request } = this
    this.#group.get(measures.requestsActive).add(-1)
    if (this.#isStream) this.#group.get(measures.streamsActive).add(-1)
    const seconds = record.durationMs / 1_000
    cache
      .getRoute(request.method, request.route)
      .get(measures.httpDuration, 'http.response.status_code', String(getSentStatus(record)))
      .add(seconds)
    const series = this.#getModelSeries()
    series.get(measures.requestDuration, 'error.type', getRequestErrorType(record)).add(seconds)
    const reason = getRejectionReason(record)
    if (reason !== undefined) cache.globalGroup.get(measures.refused, 'signalbox.reason', reason).add(1)
    if (record.guards) this.#countGuards(record)
    if (record.chargedUsd !== undefined) this.#group.get(measures.cost).add(record.chargedUsd)
    if (record.guardHeldMs !== undefined) this.#group.get(measures.guardHeld).add(record.guardHeldMs / 1_000)
    const { attempts, warnings } = record
    if (attempts.length === 0) return
    series.get(measures.requestAttempts).add(attempts.length)
    if (attempts.length > 1) this.#countFallbacks(record)
    if (warnings) for (const warning of warnings) this.#countDropped(warning, record)
  }

  #countFallbacks({ attempts, end }: RequestRecord): void {
    for (const { provider, outcome } of attempts.slice(0, -1)) {
      if (outcome === 'answered' || outcome === 'cancelled' || outcome === 'outrun' || outcome === 'refused') continue
      const labels = {
        'gen_ai.provider.name': getProviderName(provider),
        'signalbox.reason': outcome,
        'signalbox.recovered': String(end === 'complete'),
      }
      this.cache.globalGroup.getWith(measures.fallbacks, labels).add(1)
    }
  }

  #countGuards({ guards = [] }: RequestRecord): void {
    const { globalGroup } = this.cache
    for (const { name, stage, verdict, isWatched, ms } of guards) {
      const labels = { 'signalbox.guard': name, 'signalbox.stage': stage }
      const verdictLabel = isWatched ? `watched-${verdict}` : verdict
      globalGroup.getWith(measures.guardChecks, { ...labels, 'signalbox.verdict': verdictLabel }).add(1)
      globalGroup.getWith(measures.guardDuration, labels).add(ms / 1_000)
    }
  }

  #countDropped(warning: string, { attempts }: RequestRecord): void {
    const labels = {
      'signalbox.format.from': this.request.format,
      'gen_ai.provider.name': getProviderName(attempts.at(-1)?.provider ?? OTHER_LABEL),
      'signalbox.loss': /^[a-z]+(?=:)/.exec(warning)?.[0] ?? OTHER_LABEL,
    }
    this.cache.globalGroup.getWith(measures.losses, labels).add(1)
  }

  #getModelSeries(): SeriesGroup {
    return this.cache.getModel(this.operation, this.#model)
  }
}

class MeasuredAttempt implements AttemptFollower {
  readonly #attempt: ObservedAttempt
  readonly #request: MeasuredRequest
  readonly #target: SeriesGroup

  constructor(attempt: ObservedAttempt, request: MeasuredRequest) {
    this.#attempt = attempt
    this.#request = request
    const model = attempt.isKnown ? attempt.model : OTHER_LABEL
    this.#target = request.cache.getTarget(request.operation, attempt.provider, model)
  }

  begun(afterMs: number): void {
    this.#target.get(measures.firstChunk).add(afterMs / 1_000)
    this.#request.begun(this.#attempt, afterMs)
  }

  ended(record: AttemptRecord, end: AttemptEnd): void {
    const { outcome, usage, costUsd, costSource = 'counted', promptCache } = record
    if (outcome === 'refused') return
    const target = this.#target
    const errorType = getAttemptErrorType(record, end)
    const { request, operation, cache } = this.#request
    target.get(getDurationMetric(request.kind, operation), 'error.type', errorType).add(end.totalMs / 1_000)
    target.get(measures.attempts, 'signalbox.outcome', outcome).add(1)
    if (this.#attempt.isHedge)
      cache.globalGroup.get(measures.hedges, 'signalbox.won', String(outcome === 'answered')).add(1)
    if (promptCache) {
      const { by, read, written, savedUsd = 0 } = promptCache
      target.get(measures.promptCacheTokens, 'signalbox.direction', 'read').add(read)
      target.get(measures.promptCacheTokens, 'signalbox.direction', 'write').add(written)
      if (by === 'gateway') target.get(measures.promptCacheSaved).add(savedUsd)
    }
    if (costUsd !== undefined) target.get(measures.cost, 'signalbox.cost.source', costSource).add(costUsd)
    // Add 0 for a failed attempt, so its series exist.
    addTokensByModality(target, measures.inputTokens, [
      usage?.inputTokens,
      usage?.inputImageTokens,
      usage?.inputAudioTokens,
    ])
    addTokensByModality(target, measures.outputTokens, [
      usage?.outputTokens,
      usage?.outputImageTokens,
      usage?.outputAudioTokens,
    ])
    if (!usage) return
    const { cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
    if (cacheReadTokens) addTokens(target, measures.cacheReadTokens, cacheReadTokens)
    if (cacheWriteTokens) addTokens(target, measures.cacheWriteTokens, cacheWriteTokens)
    if (reasoningTokens) addTokens(target, measures.reasoningTokens, reasoningTokens)
    target.get(measures.inputSize, 'error.type', errorType).add(usage.inputTokens)
    target.get(measures.outputSize, 'error.type', errorType).add(usage.outputTokens)
  }
}

const addTokens = (target: SeriesGroup, measure: Metric, count: number, modality = 'unknown'): void =>
  target.get(measure, 'gen_ai.token.modality', modality).add(count)

/** Adds tokens by modality. If a provider reports image or audio tokens, all other tokens are text. */
function addTokensByModality(
  target: SeriesGroup,
  measure: Metric,
  [all = 0, image = 0, audio = 0]: ReadonlyArray<number | undefined>,
): void {
  if (image > 0) addTokens(target, measure, image, 'image')
  if (audio > 0) addTokens(target, measure, audio, 'audio')
  const textCount = Math.max(0, all - image - audio)
  if (image + audio === 0) addTokens(target, measure, textCount)
  else if (textCount > 0) addTokens(target, measure, textCount, 'text')
}

/** Returns the duration metric. The conventions define one for chats, one for embeddings, and one for everything else. */
function getDurationMetric(kind: ObservedRequest['kind'], operation: string): Metric {
  if (kind === 'embedding') return measures.embeddingsDuration
  return operation === 'chat' || operation === 'text_completion' || operation === 'compact'
    ? measures.inferenceDuration
    : measures.operationDuration
}
