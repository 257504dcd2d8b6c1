import { type Conventions, previousMetrics } from './conventions.ts'
import { type LabelSet, type Meter, type Metric, measures, type Series } from './measures.ts'
import type { Attributes, OtelApi } from './otel-api.ts'

type ApiMeter = ReturnType<OtelApi['metrics']['getMeter']>
type RecordValue = (value: number, attributes: Attributes) => void

/** Creates a meter that records to OpenTelemetry instruments. The SDK limits each instrument to 2,000 label sets. */
export function createOtelMeter(meter: ApiMeter, conventions: Conventions): Meter {
  const instruments = new Map<string, RecordValue>()

  function getInstrument(name: string, measure: Metric): RecordValue {
    const instrument = instruments.get(name) ?? createInstrument(meter, name, measure)
    instruments.set(name, instrument)
    return instrument
  }

  return {
    getSeries(measure, labels) {
      if (measure === measures.build || measure === measures.overflow) return { add() {} }
      const oldName = previousMetrics[measure.name]
      const series: Series[] = []
      if (!oldName || conventions !== '1.41') {
        const record = getInstrument(measure.name, measure)
        const attributes = toAttributes(labels)
        series.push({ add: (value) => record(value, attributes) })
      }
      if (oldName && conventions !== 'latest') {
        const record = getInstrument(oldName.name, measure)
        const attributes = toAttributes(labels, oldName.type)
        series.push({ add: (value) => record(value, attributes) })
      }
      const [only] = series
      return series.length === 1 && only ? only : { add: (value) => series.forEach((item) => void item.add(value)) }
    },
  }
}

function createInstrument(meter: ApiMeter, name: string, { kind, unit, help, buckets }: Metric): RecordValue {
  const options = { unit, description: help }
  switch (kind) {
    case 'histogram': {
      const histogram = meter.createHistogram(name, {
        ...options,
        ...(buckets && { advice: { explicitBucketBoundaries: [...buckets] } }),
      })
      return (value, attributes) => histogram.record(value, attributes)
    }
    case 'counter': {
      const counter = meter.createCounter(name, options)
      return (value, attributes) => counter.add(value, attributes)
    }
    case 'gauge':
    case 'upDown': {
      const counter = meter.createUpDownCounter(name, options)
      return (value, attributes) => counter.add(value, attributes)
    }
  }
}

function toAttributes(labels: LabelSet, tokenType?: string): Attributes {
  const attributes: Attributes = {}
  for (const [name, value] of Object.entries(labels)) if (value !== undefined) attributes[name] = value
  if (tokenType !== undefined) attributes['gen_ai.token.type'] = tokenType
  return attributes
}
