import { makeRoom } from '../lib/make-room.ts'
import type { RouteTarget } from './group.ts'

/** How fast targets answer and how busy they are, as this instance sees it. */
export interface TargetStats {
  /** A request is under way to the target until the answer's `ended`. */
  begin(target: RouteTarget, stream: boolean): Run
  /** Decaying average of the ms to the first event of a stream, or to the whole answer; `undefined` before the first. */
  averageOf(target: RouteTarget, stream: boolean): number | undefined
  /** The ms within which 95 % of its latest answers came; `undefined` before there are enough of them. */
  p95Of(target: RouteTarget, stream: boolean): number | undefined
  /** Requests under way. */
  loadOf(target: RouteTarget): number
}

/** One request that is under way to a target. */
export interface Run {
  answeredAfter(ms: number): void
  /** May be called more than once. */
  ended(): void
}

interface Measure {
  average: number | undefined
  /** The latest, in a ring. */
  samples: number[]
  count: number
}

interface Record {
  load: number
  streams: Measure
  answers: Measure
}

/** The weight of the newest answer in the average. */
const NEWEST = 0.2
const SAMPLES = 100
const MIN_SAMPLES = 20
/** Clients choose model names, so there is a limit; the oldest go first. */
const MAX_RECORDS = 10_000

/** The statistics of nobody yet; 10,000 targets are remembered at most. */
export function createTargetStats(): TargetStats {
  const records = new Map<string, Record>()

  const keyOf = ({ connection, model }: RouteTarget) => `${connection.id} ${model}`

  function recordOf(target: RouteTarget): Record {
    const key = keyOf(target)
    const known = records.get(key)
    if (known) return known
    makeRoom(records, MAX_RECORDS)
    const record = { load: 0, streams: measure(), answers: measure() }
    records.set(key, record)
    return record
  }

  const measureOf = (target: RouteTarget, stream: boolean) =>
    records.get(keyOf(target))?.[stream ? 'streams' : 'answers']

  return {
    begin(target, stream) {
      const record = recordOf(target)
      let over = false
      record.load += 1
      return {
        answeredAfter: (ms) => add(stream ? record.streams : record.answers, ms),
        ended() {
          if (!over) record.load -= 1
          over = true
        },
      }
    },
    averageOf: (target, stream) => measureOf(target, stream)?.average,
    p95Of(target, stream) {
      const { samples = [] } = measureOf(target, stream) ?? {}
      if (samples.length < MIN_SAMPLES) return undefined
      return [...samples].sort((a, b) => a - b)[Math.ceil(samples.length * 0.95) - 1]
    },
    loadOf: (target) => records.get(keyOf(target))?.load ?? 0,
  }
}

const measure = (): Measure => ({ average: undefined, samples: [], count: 0 })

function add(measure: Measure, ms: number): void {
  measure.average = measure.average === undefined ? ms : measure.average + NEWEST * (ms - measure.average)
  measure.samples[measure.count % SAMPLES] = ms
  measure.count += 1
}
