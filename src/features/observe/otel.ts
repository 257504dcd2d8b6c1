import { VERSION } from '../../lib/version.ts'
import type { AttemptRecord, RequestRecord } from '../../request/hook-records.ts'
import { type Conventions, createAttributeRenamer } from './conventions.ts'
import { getAttemptErrorType, getOperationName, getRequestErrorType, getSentStatus } from './meanings.ts'
import { getProviderName } from './measures.ts'
import { createMetricsObserver } from './measuring.ts'
import type {
  AttemptEnd,
  AttemptFollower,
  GatewayObserver,
  ObservedAttempt,
  ObservedRequest,
  RequestFollower,
} from './observer.ts'
import type { Attributes, OtelApi, OtelContext, OtelSpan } from './otel-api.ts'
import { createOtelMeter } from './otel-meter.ts'

/** Options for `otel`. */
export interface OtelOptions {
  /**
   * The attribute names to write: `latest` for the latest OpenTelemetry GenAI conventions (as of the commits listed in the metrics guide), `1.41` for
   * that release (supported by most backends), or `both`. Default: `latest`.
   */
  conventions?: Conventions
  /** IDs of connections and providers that receive the trace context (`traceparent`) of the attempt span. Default: none. */
  outgoing?: readonly string[]
}

/**
 * Writes spans and metrics through `@opentelemetry/api`: `observe: [otel(api)]`. Each model request has a span with a child span for each attempt.
 * Only attempt spans include tokens and cost. Spans contain no prompts or responses.
 */
export function otel(api: OtelApi, { conventions = 'latest', outgoing = [] }: OtelOptions = {}): GatewayObserver {
  const tracer = api.trace.getTracer('signalbox', VERSION)
  const measuring = createMetricsObserver(createOtelMeter(api.metrics.getMeter('signalbox', VERSION), conventions))
  const tracing: Tracing = {
    api,
    tracer,
    outgoing: new Set(outgoing),
    renameAttributes: createAttributeRenamer(conventions),
  }

  return {
    request(request) {
      const metricsFollower = measuring.request?.(request)
      const tracedRequest = new TracedRequest(request, tracing)
      return {
        asked(requested) {
          metricsFollower?.asked?.(requested)
          tracedRequest.asked(requested)
        },
        attempt(attempt) {
          const metricsAttempt = metricsFollower?.attempt?.(attempt)
          const tracedAttempt = tracedRequest.attempt(attempt)
          return {
            headers: () => tracedAttempt.headers(),
            begun(afterMs) {
              metricsAttempt?.begun?.(afterMs)
              tracedAttempt.begun(afterMs)
            },
            ended(record, end) {
              metricsAttempt?.ended?.(record, end)
              tracedAttempt.ended(record, end)
            },
          }
        },
        ended(record) {
          metricsFollower?.ended?.(record)
          tracedRequest.ended(record)
        },
      }
    },
  }
}

interface Tracing {
  api: OtelApi
  tracer: ReturnType<OtelApi['trace']['getTracer']>
  outgoing: ReadonlySet<string>
  /** Renames attributes to match the selected conventions. */
  renameAttributes(attributes: Attributes): Attributes
}

class TracedRequest implements RequestFollower {
  readonly #request: ObservedRequest
  readonly #tracing: Tracing
  readonly #span: OtelSpan
  readonly #context: OtelContext

  constructor(request: ObservedRequest, tracing: Tracing) {
    this.#request = request
    this.#tracing = tracing
    const { api, tracer, renameAttributes } = tracing
    const { method, route, path, scheme, startedAt } = request
    const activeSpan = api.trace.getActiveSpan()
    const parent = activeSpan ? api.context.active() : api.propagation.extract(api.ROOT_CONTEXT, request, headerGetter)
    const userAgent = request.header('user-agent')
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'url.path': truncate(path),
      ...(scheme !== undefined && { 'url.scheme': scheme }),
      'gen_ai.operation.name': getOperationName(request.operation),
      'signalbox.request.id': request.id,
      ...(userAgent !== undefined && { 'user_agent.original': truncate(userAgent) }),
    }
    const kind = activeSpan ? api.SpanKind.INTERNAL : api.SpanKind.SERVER
    this.#span = tracer.startSpan(
      `${method} ${route}`,
      { kind, attributes: renameAttributes(attributes), startTime: startedAt },
      parent,
    )
    this.#context = api.trace.setSpan(parent, this.#span)
  }

  asked({ model, stream }: { model: string; stream: boolean }): void {
    this.#span.setAttribute('gen_ai.request.model', truncate(model))
    if (stream) this.#span.setAttribute('gen_ai.request.stream', true)
  }

  attempt(attempt: ObservedAttempt): TracedAttempt {
    return new TracedAttempt(attempt, { request: this.#request, context: this.#context, tracing: this.#tracing })
  }

  ended(record: RequestRecord): void {
    const { attempts, skipped, stopped, warnings } = record
    const span = this.#span
    const errorType = getRequestErrorType(record)
    span.setAttributes({
      'http.response.status_code': getSentStatus(record),
      'signalbox.end': record.end,
      'signalbox.attempts': attempts.length,
      ...(attempts.length > 1 && { 'signalbox.fallback': attempts.some(({ outcome }) => outcome !== 'answered') }),
      ...(skipped && { 'signalbox.skipped': skipped.length }),
      ...(stopped && { 'signalbox.stopped': stopped }),
      ...(warnings && { 'signalbox.warnings': warnings.slice(0, MAX_WARNINGS).map(truncate) }),
      ...(record.keyId !== undefined && { 'signalbox.key.id': record.keyId }),
      ...(errorType !== undefined && { 'error.type': errorType }),
    })
    if (record.end === 'cut' || (record.status >= 500 && record.end !== 'aborted'))
      span.setStatus({ code: this.#tracing.api.SpanStatusCode.ERROR })
    span.end(record.startedAt + record.durationMs)
  }
}

/** An attempt span's request and context. */
interface AttemptOptions {
  request: ObservedRequest
  /** The context that contains the request's span. */
  context: OtelContext
  tracing: Tracing
}

class TracedAttempt implements AttemptFollower {
  readonly #attempt: ObservedAttempt
  readonly #options: AttemptOptions
  readonly #span: OtelSpan

  constructor(attempt: ObservedAttempt, options: AttemptOptions) {
    this.#attempt = attempt
    this.#options = options
    const { api, tracer, renameAttributes } = options.tracing
    const operation = getOperationName(options.request.operation)
    const model = truncate(attempt.model)
    const attributes = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': getProviderName(attempt.provider),
      'gen_ai.request.model': model,
      ...(attempt.stream && { 'gen_ai.request.stream': true }),
      ...parseServerUrl(attempt.baseUrl),
      'signalbox.connection.id': attempt.connectionId,
      'signalbox.attempt.number': attempt.number,
      ...(attempt.isHedge && { 'signalbox.attempt.hedge': true }),
    }
    this.#span = tracer.startSpan(
      `${operation} ${model}`,
      { kind: api.SpanKind.CLIENT, attributes: renameAttributes(attributes), startTime: attempt.startedAt },
      options.context,
    )
  }

  headers(): Record<string, string> | undefined {
    const { api, outgoing } = this.#options.tracing
    const { provider, connectionId } = this.#attempt
    if (!outgoing.has(connectionId) && !outgoing.has(provider)) return undefined
    const carrier: Record<string, string> = {}
    api.propagation.inject(api.trace.setSpan(this.#options.context, this.#span), carrier, headerSetter)
    return carrier
  }

  begun(afterMs: number): void {
    this.#span.setAttribute('gen_ai.response.time_to_first_chunk', afterMs / 1_000)
  }

  ended(record: AttemptRecord, end: AttemptEnd): void {
    const { api, renameAttributes } = this.#options.tracing
    const { usage, costUsd, costSource, outcome, status, via } = record
    const errorType = getAttemptErrorType(record, end)
    this.#span.setAttributes(
      renameAttributes({
        'signalbox.attempt.outcome': outcome,
        ...(outcome !== 'cancelled' && outcome !== 'outrun' && { 'http.response.status_code': status }),
        ...(via !== undefined && { 'signalbox.via': truncate(via) }),
        ...(usage && {
          'gen_ai.usage.input_tokens': usage.inputTokens,
          'gen_ai.usage.output_tokens': usage.outputTokens,
        }),
        ...(usage?.cacheReadTokens && { 'gen_ai.usage.cache_read.input_tokens': usage.cacheReadTokens }),
        ...(usage?.cacheWriteTokens && { 'gen_ai.usage.cache_write.input_tokens': usage.cacheWriteTokens }),
        ...(usage?.reasoningTokens && { 'gen_ai.usage.reasoning.output_tokens': usage.reasoningTokens }),
        ...(usage?.inputImageTokens && { 'gen_ai.usage.image.input_tokens': usage.inputImageTokens }),
        ...(usage?.outputImageTokens && { 'gen_ai.usage.image.output_tokens': usage.outputImageTokens }),
        ...(usage?.inputAudioTokens && { 'gen_ai.usage.audio.input_tokens': usage.inputAudioTokens }),
        ...(usage?.outputAudioTokens && { 'gen_ai.usage.audio.output_tokens': usage.outputAudioTokens }),
        ...(costUsd !== undefined && {
          'gen_ai.usage.cost.amount': costUsd,
          'gen_ai.usage.cost.currency': 'USD',
          'gen_ai.usage.cost.source': costSource === 'reported' ? 'provider' : 'local',
        }),
        ...(errorType !== undefined && { 'error.type': errorType }),
      }),
    )
    if (errorType !== undefined) this.#span.setStatus({ code: api.SpanStatusCode.ERROR })
    this.#span.end(this.#attempt.startedAt + end.totalMs)
  }
}

function parseServerUrl(baseUrl: string): Attributes {
  try {
    const { hostname, port, protocol } = new URL(baseUrl)
    return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'http:' ? 80 : 443) }
  } catch {
    return {}
  }
}

/** Sets only the trace headers. Skips baggage, because it may contain arbitrary data. */
const headerSetter = {
  set(carrier: Record<string, string>, name: string, value: string) {
    if (name === 'traceparent' || name === 'tracestate') carrier[name] = value
  },
}

const headerGetter = {
  get: (request: ObservedRequest, name: string) =>
    name === 'traceparent' || name === 'tracestate' ? request.header(name) : undefined,
  keys: () => ['traceparent', 'tracestate'],
}

/** Truncates strings chosen by clients, providers, or record owners. */
const truncate = (text: string): string =>
  text.length > MAX_ATTRIBUTE_LENGTH ? `${text.slice(0, MAX_ATTRIBUTE_LENGTH - 1)}…` : text

/** In UTF-16 code units. */
const MAX_ATTRIBUTE_LENGTH = 256
const MAX_WARNINGS = 30
