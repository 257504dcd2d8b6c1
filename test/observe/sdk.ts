import * as api from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** Creates an OpenTelemetry API module with this test's own providers, because the global ones can only be set once per process. */
export function sdk() {
  const spans = new InMemorySpanExporter()
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({ exporter: metrics, exportIntervalMillis: 3_600_000 })
  const meters = new MeterProvider({ readers: [reader] })
  const propagator = new W3C()
  const module = {
    ...api,
    trace: {
      getTracer: (name: string, version?: string) => tracers.getTracer(name, version),
      getActiveSpan: (): api.Span | undefined => undefined,
      getSpanContext: api.trace.getSpanContext,
      setSpan: api.trace.setSpan,
    },
    metrics: { getMeter: (name: string, version?: string) => meters.getMeter(name, version) },
    propagation: {
      extract: propagator.extract.bind(propagator),
      inject: propagator.inject.bind(propagator),
    },
  }
  return {
    module,
    /** Returns the finished spans as a tree of names. */
    tree(): string[] {
      const all = spans.getFinishedSpans()
      const below = (parent: string | undefined, depth: number): string[] =>
        all
          .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
          .sort((item, other) => item.startTime[0] - other.startTime[0] || item.startTime[1] - other.startTime[1])
          .flatMap((span) => [
            `${'  '.repeat(depth)}${formatSpan(span)}`,
            ...below(span.spanContext().spanId, depth + 1),
          ])
      return below(undefined, 0)
    },
    spans: () => spans.getFinishedSpans(),
    forget: () => spans.reset(),
    async metrics() {
      await reader.forceFlush()
      return metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
    },
  }
}

function formatSpan({ name, kind, status, attributes }: ReadableSpan): string {
  const error = attributes['error.type']
  return `${api.SpanKind[kind]} ${name}${error === undefined ? '' : ` error=${error}`}${status.code === api.SpanStatusCode.ERROR ? ' ERROR' : ''}`
}

/** W3C trace context, as in the Node SDK. */
class W3C implements api.TextMapPropagator {
  inject(context: api.Context, carrier: unknown, setter: api.TextMapSetter) {
    const span = api.trace.getSpanContext(context)
    if (span) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-0${span.traceFlags}`)
    setter.set(carrier, 'baggage', 'user=alice')
  }
  extract(context: api.Context, carrier: unknown, getter: api.TextMapGetter) {
    const [, traceId, spanId, flags] = String(getter.get(carrier, 'traceparent') ?? '').split('-')
    if (!traceId || !spanId) return context
    return api.trace.setSpanContext(context, { traceId, spanId, traceFlags: Number(flags), isRemote: true })
  }
  fields() {
    return ['traceparent']
  }
}
