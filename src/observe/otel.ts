import { VERSION } from '../lib/version.ts'
import type {
  AttemptEnd,
  AttemptFollower,
  GatewayObserver,
  ObservedAttempt,
  ObservedRequest,
  RequestFollower,
} from '../pipeline/observing.ts'
import type { AttemptRecord, RequestRecord } from '../pipeline/records.ts'
import { type Conventions, conventionsOf } from './conventions.ts'
import { attemptErrorType, operationName, requestErrorType } from './meanings.ts'
import { providerName } from './measures.ts'
import { createMeasuring } from './measuring.ts'
import type { Attributes, OtelApi, OtelContext, OtelSpan } from './otel-api.ts'
import { createOtelMeter } from './otel-meter.ts'

/** How `otel` writes spans and metrics. */
export interface OtelOptions {
  /**
   * The names: `latest` of the OpenTelemetry conventions for generative AI (those of the commit that src/observe/README.md names), those of release
   * 1.41, which most backends know, or both. Default: `latest`.
   */
  conventions?: Conventions
  /** The ids of connections and providers that get the trace context (`traceparent`), with the span of the attempt. Default: none. */
  outgoing?: readonly string[]
}

/**
 * Writes spans and metrics through `@opentelemetry/api`, whose module the host passes: `observe: [otel(api)]`. One span for each model request, and
 * within it one for each attempt, which alone has tokens and cost. They hold no prompt and no answer.
 */
export function otel(api: OtelApi, { conventions = 'latest', outgoing = [] }: OtelOptions = {}): GatewayObserver {
  const tracer = api.trace.getTracer('signalbox', VERSION)
  const measuring = createMeasuring(createOtelMeter(api.metrics.getMeter('signalbox', VERSION), conventions))
  const tracing: Tracing = { api, tracer, outgoing: new Set(outgoing), attributesOf: conventionsOf(conventions) }

  return {
    request(request) {
      const measured = measuring.request?.(request)
      const traced = new TracedRequest(request, tracing)
      return {
        asked(asked) {
          measured?.asked?.(asked)
          traced.asked(asked)
        },
        attempt(attempt) {
          const counted = measured?.attempt?.(attempt)
          const followed = traced.attempt(attempt)
          return {
            headers: () => followed.headers(),
            begun(afterMs) {
              counted?.begun?.(afterMs)
              followed.begun(afterMs)
            },
            ended(record, end) {
              counted?.ended?.(record, end)
              followed.ended(record, end)
            },
          }
        },
        ended(record) {
          measured?.ended?.(record)
          traced.ended(record)
        },
      }
    },
  }
}

interface Tracing {
  api: OtelApi
  tracer: ReturnType<OtelApi['trace']['getTracer']>
  outgoing: ReadonlySet<string>
  /** Attributes by the names of the conventions that are written. */
  attributesOf(attributes: Attributes): Attributes
}

class TracedRequest implements RequestFollower {
  readonly #request: ObservedRequest
  readonly #tracing: Tracing
  readonly #span: OtelSpan
  readonly #context: OtelContext

  constructor(request: ObservedRequest, tracing: Tracing) {
    this.#request = request
    this.#tracing = tracing
    const { api, tracer, attributesOf } = tracing
    const { method, route, path, startedAt } = request
    const host = api.trace.getActiveSpan()
    const parent = host ? api.context.active() : api.propagation.extract(api.ROOT_CONTEXT, request, headerGetter)
    const userAgent = request.header('user-agent')
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'url.path': shortened(path),
      'gen_ai.operation.name': operationName(request.operation),
      'signalbox.request.id': request.id,
      ...(userAgent !== undefined && { 'user_agent.original': shortened(userAgent) }),
    }
    const kind = host ? api.SpanKind.INTERNAL : api.SpanKind.SERVER
    this.#span = tracer.startSpan(
      `${method} ${route}`,
      { kind, attributes: attributesOf(attributes), startTime: startedAt },
      parent,
    )
    this.#context = api.trace.setSpan(parent, this.#span)
  }

  asked({ model, stream }: { model: string; stream: boolean }): void {
    this.#span.setAttribute('gen_ai.request.model', shortened(model))
    if (stream) this.#span.setAttribute('gen_ai.request.stream', true)
  }

  attempt(attempt: ObservedAttempt): TracedAttempt {
    return new TracedAttempt(attempt, { request: this.#request, context: this.#context, tracing: this.#tracing })
  }

  ended(record: RequestRecord): void {
    const { attempts, skipped, stopped, warnings } = record
    const span = this.#span
    const errorType = requestErrorType(record)
    span.setAttributes({
      'http.response.status_code': record.status,
      'signalbox.end': record.end,
      'signalbox.attempts': attempts.length,
      ...(attempts.length > 1 && { 'signalbox.fallback': attempts.some(({ outcome }) => outcome !== 'answered') }),
      ...(skipped && { 'signalbox.skipped': skipped.length }),
      ...(stopped && { 'signalbox.stopped': stopped }),
      ...(warnings && { 'signalbox.warnings': warnings.slice(0, MAX_WARNINGS).map(shortened) }),
      ...(record.keyId !== undefined && { 'signalbox.key.id': record.keyId }),
      ...(errorType !== undefined && { 'error.type': errorType }),
    })
    if (record.end === 'cut' || (record.status >= 500 && record.end !== 'aborted'))
      span.setStatus({ code: this.#tracing.api.SpanStatusCode.ERROR })
    span.end(record.startedAt + record.durationMs)
  }
}

/** What an attempt's span needs from its request. */
interface TracedTerms {
  request: ObservedRequest
  /** With the span of the request. */
  context: OtelContext
  tracing: Tracing
}

class TracedAttempt implements AttemptFollower {
  readonly #attempt: ObservedAttempt
  readonly #terms: TracedTerms
  readonly #span: OtelSpan

  constructor(attempt: ObservedAttempt, terms: TracedTerms) {
    this.#attempt = attempt
    this.#terms = terms
    const { api, tracer, attributesOf } = terms.tracing
    const operation = operationName(terms.request.operation)
    const model = shortened(attempt.model)
    const attributes = {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': providerName(attempt.provider),
      'gen_ai.request.model': model,
      ...addressOf(attempt.baseUrl),
      'signalbox.connection.id': attempt.connectionId,
      'signalbox.attempt.number': attempt.number,
      ...(attempt.isHedge && { 'signalbox.attempt.hedge': true }),
    }
    this.#span = tracer.startSpan(
      `${operation} ${model}`,
      { kind: api.SpanKind.CLIENT, attributes: attributesOf(attributes), startTime: attempt.startedAt },
      terms.context,
    )
  }

  headers(): Record<string, string> | undefined {
    const { api, outgoing } = this.#terms.tracing
    const { provider, connectionId } = this.#attempt
    if (!outgoing.has(connectionId) && !outgoing.has(provider)) return undefined
    const carrier: Record<string, string> = {}
    api.propagation.inject(api.trace.setSpan(this.#terms.context, this.#span), carrier, traceHeaders)
    return carrier
  }

  begun(afterMs: number): void {
    this.#span.setAttribute('gen_ai.response.time_to_first_chunk', afterMs / 1_000)
  }

  ended(record: AttemptRecord, end: AttemptEnd): void {
    const { api, attributesOf } = this.#terms.tracing
    const { usage, costUsd, costSource, outcome, status, via } = record
    const errorType = attemptErrorType(record, end)
    this.#span.setAttributes(
      attributesOf({
        'signalbox.attempt.outcome': outcome,
        ...(outcome !== 'cancelled' && outcome !== 'outrun' && { 'http.response.status_code': status }),
        ...(via !== undefined && { 'signalbox.via': shortened(via) }),
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

function addressOf(baseUrl: string): Attributes {
  try {
    const { hostname, port, protocol } = new URL(baseUrl)
    return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'http:' ? 80 : 443) }
  } catch {
    return {}
  }
}

/** Baggage is never passed on: it may hold anything. */
const traceHeaders = {
  set(carrier: Record<string, string>, name: string, value: string) {
    if (name === 'traceparent' || name === 'tracestate') carrier[name] = value
  },
}

const headerGetter = {
  get: (request: ObservedRequest, name: string) =>
    name === 'traceparent' || name === 'tracestate' ? request.header(name) : undefined,
  keys: () => ['traceparent', 'tracestate'],
}

/** Of a text that a client, a provider or a record's owner has chosen. */
const shortened = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text)

/** In UTF-16 code units. */
const MAX_TEXT = 256
const MAX_WARNINGS = 30
