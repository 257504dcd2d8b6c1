import {
  type LabelName,
  type LabelSet,
  MAX_SERIES,
  type Meter,
  type Metric,
  measures,
  OTHER_LABEL,
  type Series,
} from './measures.ts'

/** A series with its value. */
export type StoredSeries = NumberSeries | HistogramSeries

/** A counter or a gauge. */
export class NumberSeries implements Series {
  readonly labels: LabelSet
  value = 0

  constructor(labels: LabelSet) {
    this.labels = labels
  }

  add(value: number): void {
    this.value += value
  }
}

/** A histogram. `counts` has one more element than `bounds`, for values above the last bound. */
export class HistogramSeries implements Series {
  readonly labels: LabelSet
  readonly bounds: readonly number[]
  readonly counts: number[]
  sum = 0

  constructor(labels: LabelSet, bounds: readonly number[]) {
    this.labels = labels
    this.bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  add(value: number): void {
    this.sum += value
    let low = 0
    let high = this.bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (value <= (this.bounds[middle] ?? 0)) high = middle
      else low = middle + 1
    }
    this.counts[low] = (this.counts[low] ?? 0) + 1
  }
}

/** This process's series. Beyond `MAX_SERIES`, new label sets share a series with `_OTHER` labels, and the overflow metric counts them. */
export class Registry implements Meter {
  readonly #families = new Map<Metric, Map<string, StoredSeries>>()
  #seriesCount = 0

  getSeries(measure: Metric, labels: LabelSet): Series {
    const family = this.#getFamily(measure)
    const key = getSeriesKey(measure, labels)
    const existingSeries = family.get(key)
    if (existingSeries) return existingSeries
    if (measure !== measures.overflow && (family.size >= MAX_SERIES.measure || this.#seriesCount >= MAX_SERIES.all))
      return this.#getOverflowSeries(measure, family)
    return this.#addSeries(family, key, measure, labels)
  }

  /** Returns the metrics with series, in order of first use. */
  listFamilies(): Iterable<[Metric, Iterable<StoredSeries>]> {
    return [...this.#families].map(([measure, family]) => [measure, family.values()])
  }

  /** Replaces all of a gauge's series. */
  set(measure: Metric, values: Iterable<readonly [labels: LabelSet, value: number]>): void {
    const family = this.#getFamily(measure)
    this.#seriesCount -= family.size
    family.clear()
    for (const [labels, value] of values) this.getSeries(measure, labels).add(value)
  }

  #getFamily(measure: Metric): Map<string, StoredSeries> {
    const existingFamily = this.#families.get(measure)
    if (existingFamily) return existingFamily
    const family = new Map<string, StoredSeries>()
    this.#families.set(measure, family)
    return family
  }

  #addSeries(family: Map<string, StoredSeries>, key: string, measure: Metric, labels: LabelSet): StoredSeries {
    const { buckets } = measure
    const series = buckets ? new HistogramSeries(labels, buckets) : new NumberSeries(labels)
    family.set(key, series)
    this.#seriesCount++
    return series
  }

  #getOverflowSeries(measure: Metric, family: Map<string, StoredSeries>): Series {
    const labels = Object.fromEntries(measure.labels.map((name) => [name, OTHER_LABEL]))
    const key = getSeriesKey(measure, labels)
    const overflowSeries = family.get(key) ?? this.#addSeries(family, key, measure, labels)
    const overflowCount = this.getSeries(measures.overflow, { 'signalbox.metric': measure.name })
    return {
      add(value) {
        overflowSeries.add(value)
        overflowCount.add(1)
      },
    }
  }
}

/** Returns a unique key for these label values. It contains their lengths, because values may contain any character. */
const getSeriesKey = ({ labels: names }: Metric, labels: LabelSet): string =>
  names.map((name: LabelName) => `${labels[name]?.length ?? '-'}:${labels[name] ?? ''}`).join('')
