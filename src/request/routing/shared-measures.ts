import { isObject, tryParseJson } from '../../lib/json.ts'
import { evictOldest } from '../../lib/maps.ts'
import { createThrottledPublisher } from '../../lib/throttled-publisher.ts'
import type { Clock } from '../../types.ts'
import type { RouteTarget } from './group.ts'
import type { SharedState } from './shared-state.ts'
import type { Measures } from './target-stats.ts'
import { getStatsKey, type MeasureName, type TargetStats } from './target-stats.ts'

/** How long published measurements are kept, in ms. */
const TTL_MS = 60 * 60 * 1_000
/** The maximum age of other instances' measurements, and the minimum time between two publications, in ms. */
const PAUSE_MS = 100
/** How often an instance publishes while it has load, in ms. */
const HEARTBEAT_MS = 20_000
/** An instance that hasn't published for this long, in ms, is treated as killed, and its load no longer counts. */
const MAX_LOAD_AGE_MS = 60_000
/** The fraction by which an average must change to be published again before `MAX_AVERAGE_AGE_MS` has passed. */
const MIN_CHANGE = 0.1
const MAX_AVERAGE_AGE_MS = 10 * 60 * 1_000
/** Maximum number of published targets; the oldest are dropped first. */
const MAX_TARGETS = 1_000

const MEASURES_PREFIX = 'measures'

/** One instance's measurements. The averages are absent before the first response. */
interface PublishedMeasures {
  /** Epoch ms. */
  at: number
  targets: Record<string, PublishedTarget>
}

interface PublishedTarget {
  load: number
  streams?: number | undefined
  answers?: number | undefined
}

/**
 * Creates the measures of all instances: the sum of their loads, and the mean of their averages. Each instance publishes, in its own entry, the
 * targets that it has chosen from.
 */
export function createSharedMeasures(
  stats: TargetStats,
  { state, clock }: { state: SharedState; clock: Clock },
): Measures {
  const instanceKey = `${MEASURES_PREFIX}/${crypto.randomUUID()}`
  const sharedTargets = { load: new Map<string, RouteTarget>(), average: new Map<string, RouteTarget>() }
  let published: PublishedMeasures | undefined
  let othersPublished: PublishedMeasures[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let pendingRead: Promise<void> | undefined

  /** Starts publishing a target's measure, because a strategy uses it. Returns the target's key. */
  function startPublishing(target: RouteTarget, measure: MeasureName): string {
    const key = getStatsKey(target)
    if (sharedTargets[measure].has(key)) return key
    evictOldest(sharedTargets[measure], MAX_TARGETS)
    sharedTargets[measure].set(key, target)
    return key
  }

  function measureTarget(target: RouteTarget): PublishedTarget {
    const getAverage = (isStreaming: boolean) => stats.getAverage(target, isStreaming)
    return { load: stats.getLoad(target), streams: getAverage(true), answers: getAverage(false) }
  }

  const publisher = createThrottledPublisher(
    async () => {
      const targets: PublishedMeasures['targets'] = {}
      // Targets picked only by their average publish no load, because a change in their load wouldn't be published.
      for (const [key, target] of sharedTargets.average) targets[key] = { ...measureTarget(target), load: 0 }
      for (const [key, target] of sharedTargets.load) targets[key] = measureTarget(target)
      published = { at: clock.now(), targets }
      await state.write(instanceKey, JSON.stringify(published), { ttlMs: TTL_MS })
      return Object.values(targets).some(({ load }) => load > 0)
    },
    { clock, pauseMs: PAUSE_MS, heartbeatMs: HEARTBEAT_MS },
  )

  function needsPublishing(key: string, measureName: MeasureName): boolean {
    const target = sharedTargets[measureName].get(key)
    if (!target || measureName === 'load' || !published) return target !== undefined
    const { streams, answers } = measureTarget(target)
    const previous = published.targets[key]
    const isStale = clock.now() - published.at > MAX_AVERAGE_AGE_MS
    return isStale || hasChanged(previous?.streams, streams) || hasChanged(previous?.answers, answers)
  }

  stats.watch((key, measure) => {
    if (needsPublishing(key, measure)) publisher.schedule()
  })

  async function readOthers() {
    const entries = await state.list(MEASURES_PREFIX)
    othersPublished = entries.flatMap(({ key, value }) => (key === instanceKey ? [] : parsePublished(value)))
    pendingRead = undefined
  }

  return {
    begin: stats.begin,
    async refresh() {
      const now = clock.now()
      if (now - readAt >= PAUSE_MS) {
        readAt = now
        pendingRead ??= readOthers()
      }
      await pendingRead
    },
    getAverage(target, isStreaming) {
      const key = startPublishing(target, 'average')
      const averages = othersPublished.map(({ targets }) => targets[key]?.[isStreaming ? 'streams' : 'answers'])
      return getMean([stats.getAverage(target, isStreaming), ...averages])
    },
    getLoad(target) {
      const key = startPublishing(target, 'load')
      let load = stats.getLoad(target)
      for (const { at, targets } of othersPublished)
        if (clock.now() - at < MAX_LOAD_AGE_MS) load += targets[key]?.load ?? 0
      return load
    },
    async close() {
      await publisher.stop()
      if (published) await state.drop(instanceKey)
    },
  }
}

const hasChanged = (previous: number | undefined, current: number | undefined) =>
  current !== undefined && (previous === undefined || Math.abs(current - previous) > MIN_CHANGE * previous)

function getMean(values: ReadonlyArray<number | undefined>): number | undefined {
  const numbers = values.filter((value) => value !== undefined)
  return numbers.length === 0 ? undefined : numbers.reduce((sum, value) => sum + value, 0) / numbers.length
}

/** Parses another instance's entry. That instance may run another version. Unreadable parts are dropped. */
function parsePublished(text: string): PublishedMeasures[] {
  const parsed = tryParseJson(text)
  if (!isObject(parsed) || typeof parsed.at !== 'number' || !isObject(parsed.targets)) return []
  const targets: PublishedMeasures['targets'] = {}
  for (const [key, target] of Object.entries(parsed.targets)) {
    if (!isObject(target)) continue
    const { load, streams, answers } = target
    targets[key] = { load: getNumber(load) ?? 0, streams: getNumber(streams), answers: getNumber(answers) }
  }
  return [{ at: parsed.at, targets }]
}

const getNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
