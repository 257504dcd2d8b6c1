import { evictOldest } from '../lib/maps.ts'
import type { RouteTarget } from './group.ts'

/** The speed and the load of targets, as this instance measures them. */
export interface TargetStats {
  /** Counts a request to the target as under way until `end` is called. */
  begin(target: RouteTarget, stream: boolean): RunningCall
  /** Decaying average of the ms to the first event of a stream, or to the whole answer; `undefined` before the first. */
  averageOf(target: RouteTarget, stream: boolean): number | undefined
  /** The ms within which 95 % of its latest answers came; `undefined` before there are enough of them. */
  p95Of(target: RouteTarget, stream: boolean): number | undefined
  /** The number of requests under way. */
  loadOf(target: RouteTarget): number
  /** Calls `onChange` with the key of each target that has a new measurement. Replaces the listener before. */
  watch(onChange: (key: string, what: Measured) => void): void
}

/** What is measured of a target. */
export type Measured = 'load' | 'average'

/** One request under way to a target. */
export interface RunningCall {
  recordLatency(ms: number): void
  /** May be called more than once. */
  end(): void
}

interface Measure {
  average: number | undefined
  /** The latest samples, in a ring buffer. */
  samples: number[]
  count: number
}

interface TargetRecord {
  load: number
  streams: Measure
  answers: Measure
}

/** The weight of the newest answer in the average. */
const NEWEST = 0.2
const SAMPLES = 100
const MIN_SAMPLES = 20
/** Clients choose model names, so the number is limited; the oldest are dropped first. */
const MAX_RECORDS = 10_000

/** Makes empty statistics, of at most 10,000 targets. */
export function createTargetStats(): TargetStats {
  const records = new Map<string, TargetRecord>()
  let onChanged: (key: string, what: Measured) => void = () => {}
  const report: typeof onChanged = (key, what) => onChanged(key, what)

  function recordOf(key: string): TargetRecord {
    const known = records.get(key)
    if (known) return known
    evictOldest(records, MAX_RECORDS)
    const record = { load: 0, streams: measure(), answers: measure() }
    records.set(key, record)
    return record
  }

  const measureOf = (target: RouteTarget, stream: boolean) =>
    records.get(statsKeyOf(target))?.[stream ? 'streams' : 'answers']

  return {
    begin(target, stream) {
      const key = statsKeyOf(target)
      return new MeasuredCall(key, { record: recordOf(key), stream, report })
    },
    averageOf: (target, stream) => measureOf(target, stream)?.average,
    p95Of(target, stream) {
      const { samples = [] } = measureOf(target, stream) ?? {}
      if (samples.length < MIN_SAMPLES) return undefined
      return [...samples].sort((a, b) => a - b)[Math.ceil(samples.length * 0.95) - 1]
    },
    loadOf: (target) => records.get(statsKeyOf(target))?.load ?? 0,
    watch(onChange) {
      onChanged = onChange
    },
  }
}

/** How a call is measured. */
interface Measuring {
  record: TargetRecord
  stream: boolean
  report(key: string, what: Measured): void
}

/** One request to one target. */
class MeasuredCall implements RunningCall {
  readonly #key: string
  readonly #measuring: Measuring
  #over = false

  constructor(key: string, measuring: Measuring) {
    this.#key = key
    this.#measuring = measuring
    measuring.record.load += 1
    measuring.report(key, 'load')
  }

  recordLatency(ms: number): void {
    const { record, stream, report } = this.#measuring
    add(stream ? record.streams : record.answers, ms)
    report(this.#key, 'average')
  }

  end(): void {
    const { record, report } = this.#measuring
    if (this.#over) return
    this.#over = true
    record.load -= 1
    report(this.#key, 'load')
  }
}

/** The key of a target's measurements. */
export const statsKeyOf = ({ connection, model }: RouteTarget): string => `${connection.id} ${model}`

const measure = (): Measure => ({ average: undefined, samples: [], count: 0 })

function add(measure: Measure, ms: number): void {
  measure.average = measure.average === undefined ? ms : measure.average + NEWEST * (ms - measure.average)
  measure.samples[measure.count % SAMPLES] = ms
  measure.count += 1
}

/** The speed and the load of targets that strategies choose by. */
export interface Measures extends Pick<TargetStats, 'begin' | 'averageOf' | 'loadOf'> {
  /** Reads the measurements of other instances again, before a choice. Never rejects. */
  refresh(): Promise<void>
  /** Removes this instance's published measurements. */
  close(): Promise<void>
}

/** The measurements of this instance alone. */
export const ownMeasures = (stats: TargetStats): Measures => ({ ...stats, async refresh() {}, async close() {} })
