/*
 * Structural types for the parts of `@opentelemetry/api` that we use. Your app passes in the module. If we depended on the package, a second copy
 * could be installed, and spans recorded through it would be lost.
 */

export type Attributes = Record<string, string | number | boolean | string[]>

/** An opaque context. */
export interface OtelContext {
  getValue(key: symbol): unknown
  setValue(key: symbol, value: unknown): OtelContext
  deleteValue(key: symbol): OtelContext
}

export interface SpanContext {
  traceId: string
  spanId: string
  traceFlags: number
}

export interface OtelSpan {
  setAttribute(name: string, value: Attributes[string]): unknown
  setAttributes(attributes: Attributes): unknown
  setStatus(status: { code: number; message?: string }): unknown
  end(endTime?: number): void
  spanContext(): SpanContext
}

export interface SpanOptions {
  kind: number
  attributes: Attributes
  startTime: number
  links?: { context: SpanContext }[]
}

interface Instrument {
  add(value: number, attributes?: Attributes): void
}

interface HistogramInstrument {
  record(value: number, attributes?: Attributes): void
}

interface InstrumentOptions {
  unit: string
  description: string
  advice?: { explicitBucketBoundaries: number[] }
}

/** The module `@opentelemetry/api`, 1.3 or later. */
export interface OtelApi {
  readonly trace: {
    getTracer(
      name: string,
      version?: string,
    ): { startSpan(name: string, options: SpanOptions, context: OtelContext): OtelSpan }
    getActiveSpan(): OtelSpan | undefined
    getSpanContext(context: OtelContext): SpanContext | undefined
    setSpan(context: OtelContext, span: OtelSpan): OtelContext
  }
  readonly metrics: {
    getMeter(
      name: string,
      version?: string,
    ): {
      createCounter(name: string, options: InstrumentOptions): Instrument
      createUpDownCounter(name: string, options: InstrumentOptions): Instrument
      createHistogram(name: string, options: InstrumentOptions): HistogramInstrument
    }
  }
  readonly context: { active(): OtelContext }
  readonly propagation: {
    extract<C>(
      context: OtelContext,
      carrier: C,
      getter: { get(carrier: C, key: string): string | undefined; keys(carrier: C): string[] },
    ): OtelContext
    inject<C>(context: OtelContext, carrier: C, setter: { set(carrier: C, key: string, value: string): void }): void
  }
  readonly ROOT_CONTEXT: OtelContext
  readonly SpanKind: { readonly INTERNAL: number; readonly SERVER: number; readonly CLIENT: number }
  readonly SpanStatusCode: { readonly ERROR: number }
}
