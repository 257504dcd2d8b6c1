import { evictOldest, memoizeByObject } from '../../lib/maps.ts'
import type { RouteTarget } from './group.ts'

/** The targets' speed and load, as this instance measures them. */
export interface TargetStats {
  /** Counts a request to the target as in flight until `end` is called. */
  begin(target: RouteTarget, isStreaming: boolean): RunningCall
  /**
   * Returns the decaying average time in ms to the first event of a stream, or to the complete response, or `undefined` before the first measurement.
   */
  getAverage(target: RouteTarget, isStreaming: boolean): number | undefined
  /** Returns the time in ms within which 95% of the target's latest responses arrived, or `undefined` before there are enough of them. */
  getP95(target: RouteTarget, isStreaming: boolean): number | undefined
  /** Returns the number of in-flight requests. */
  getLoad(target: RouteTarget): number
  /** Calls `onChange` with the key of each target with a new measurement. Replaces the previous listener. */
  watch(onChange: (key: string, measure: MeasureName) => void): void
}

/** A measured quantity: a target's load or its average latency. */
export type MeasureName = 'load' | 'average'

/** One in-flight request to a target. */
export interface RunningCall {
  recordLatency(ms: number): void
  /** May be called more than once. */
  end(): void
}

interface Measure {
  average: number | undefined
  /** The latest samples, in a ring buffer. */
  samples: number[]
  sampleCount: number
}

interface TargetRecord {
  load: number
  streams: Measure
  responses: Measure
}

/** The newest response's weight in the average. */
const NEWEST_WEIGHT = 0.2
const MAX_SAMPLES = 100
const MIN_SAMPLES = 20
/** Maximum number of targets, because clients choose model names. The oldest are dropped first. */
const MAX_RECORDS = 10_000

/** Creates empty statistics for at most 10,000 targets. */
export function createTargetStats(): TargetStats {
  const records = new Map<string, TargetRecord>()
  let listener: (key: string, measure: MeasureName) => void = () => {}
  const report: typeof listener = (key, measure) => listener(key, measure)

  function getRecord(key: string): TargetRecord {
    const existing = records.get(key)
    if (existing) return existing
    evictOldest(records, MAX_RECORDS)
    const record = { load: 0, streams: createMeasure(), responses: createMeasure() }
    records.set(key, record)
    return record
  }

  const getMeasure = (target: RouteTarget, isStreaming: boolean) =>
    records.get(getStatsKey(target))?.[isStreaming ? 'streams' : 'responses']

  return {
    begin(target, isStreaming) {
      const key = getStatsKey(target)
      return new MeasuredCall(key, { record: getRecord(key), isStreaming, report })
    },
    getAverage: (target, isStreaming) => getMeasure(target, isStreaming)?.average,
    getP95(target, isStreaming) {
      const { samples = [] } = getMeasure(target, isStreaming) ?? {}
      if (samples.length < MIN_SAMPLES) return undefined
      return [...samples].sort((a, b) => a - b)[Math.ceil(samples.length * 0.95) - 1]
    },
    getLoad: (target) => records.get(getStatsKey(target))?.load ?? 0,
    watch(onChange) {
      listener = onChange
    },
  }
}

interface CallMeasurement {
  record: TargetRecord
  isStreaming: boolean
  report(key: string, measure: MeasureName): void
}

class MeasuredCall implements RunningCall {
  readonly #key: string
  readonly #measurement: CallMeasurement
  #hasEnded = false

  constructor(key: string, measurement: CallMeasurement) {
    this.#key = key
    this.#measurement = measurement
    measurement.record.load += 1
    measurement.report(key, 'load')
  }

  recordLatency(ms: number): void {
    const { record, isStreaming, report } = this.#measurement
    addSample(isStreaming ? record.streams : record.responses, ms)
    report(this.#key, 'average')
  }

  end(): void {
    const { record, report } = this.#measurement
    if (this.#hasEnded) return
    this.#hasEnded = true
    record.load -= 1
    report(this.#key, 'load')
  }
}

/** Returns the key for a target's measurements. */
export const getStatsKey = memoizeByObject(({ connection, model }: RouteTarget) => `${connection.id} ${model}`)

const createMeasure = (): Measure => ({ average: undefined, samples: [], sampleCount: 0 })

function addSample(measure: Measure, ms: number): void {
  measure.average = measure.average === undefined ? ms : measure.average + NEWEST_WEIGHT * (ms - measure.average)
  measure.samples[measure.sampleCount % MAX_SAMPLES] = ms
  measure.sampleCount += 1
}

/** The targets' speed and load, which strategies use to choose. */
export interface Measures extends Pick<TargetStats, 'begin' | 'getAverage' | 'getLoad'> {
  /** Reads other instances' measurements before a choice. Never rejects. */
  refresh(): Promise<void>
  /** Removes this instance's published measurements. */
  close(): Promise<void>
}

/** Uses only this instance's measurements. */
export const createLocalMeasures = (stats: TargetStats): Measures => ({
  ...stats,
  async refresh() {},
  async close() {},
})
