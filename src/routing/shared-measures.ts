import { isObject, tryParseJson } from '../lib/json.ts'
import { evictOldest } from '../lib/maps.ts'
import { createThrottledPublisher } from '../lib/throttled-publisher.ts'
import type { Clock } from '../types.ts'
import type { RouteTarget } from './group.ts'
import type { SharedState } from './shared-state.ts'
import type { Measures } from './target-stats.ts'
import { type Measured, statsKeyOf, type TargetStats } from './target-stats.ts'

/** How long published measurements are kept, in ms. */
const TTL_MS = 60 * 60 * 1_000
/** How old the measurements of other instances may be, and the shortest time between two publications, in ms. */
const PAUSE_MS = 100
/** How often an instance publishes while it has load, in ms. */
const BEAT_MS = 20_000
/** The load of an instance that has not published for this long, in ms, no longer counts: the instance was killed. */
const LOAD_MS = 60_000
/** An average is published again when it has changed by this fraction, or after `SPEED_MS`. */
const CHANGE = 0.1
const SPEED_MS = 10 * 60 * 1_000
/** How many targets are published; the oldest are dropped first. */
const MAX_TARGETS = 1_000

const FOLDER = 'measures'

/** The measurements that one instance publishes. The averages are absent before the first answer. */
interface Published {
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
 * Measures of all instances: the sum of their loads, and the mean of their averages. Each instance publishes, in an entry of its own, the
 * targets that it has chosen among.
 */
export function sharedMeasures(stats: TargetStats, { state, clock }: { state: SharedState; clock: Clock }): Measures {
  const ownKey = `${FOLDER}/${crypto.randomUUID()}`
  const chosenBy = { load: new Map<string, RouteTarget>(), average: new Map<string, RouteTarget>() }
  let published: Published | undefined
  let othersPublished: Published[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  /** Publishes a measure of a target from now on, since it is used to choose. Returns the target's key. */
  function share(target: RouteTarget, what: Measured): string {
    const key = statsKeyOf(target)
    if (chosenBy[what].has(key)) return key
    evictOldest(chosenBy[what], MAX_TARGETS)
    chosenBy[what].set(key, target)
    return key
  }

  function measured(target: RouteTarget): PublishedTarget {
    const averageOf = (stream: boolean) => stats.averageOf(target, stream)
    return { load: stats.loadOf(target), streams: averageOf(true), answers: averageOf(false) }
  }

  const publisher = createThrottledPublisher(
    async () => {
      const targets: Published['targets'] = {}
      // load 0 for averages: a load is published only where its end is published as well
      for (const [key, target] of chosenBy.average) targets[key] = { ...measured(target), load: 0 }
      for (const [key, target] of chosenBy.load) targets[key] = measured(target)
      published = { at: clock.now(), targets }
      await state.write(ownKey, JSON.stringify(published), { ttlMs: TTL_MS })
      return Object.values(targets).some(({ load }) => load > 0)
    },
    { clock, pauseMs: PAUSE_MS, beatMs: BEAT_MS },
  )

  function isNews(key: string, what: Measured): boolean {
    const target = chosenBy[what].get(key)
    if (!target || what === 'load' || !published) return target !== undefined
    const { streams, answers } = measured(target)
    const before = published.targets[key]
    const isOld = clock.now() - published.at > SPEED_MS
    return isOld || hasChanged(before?.streams, streams) || hasChanged(before?.answers, answers)
  }

  stats.watch((key, what) => {
    if (isNews(key, what)) publisher.schedule()
  })

  async function read() {
    const entries = await state.list(FOLDER)
    othersPublished = entries.flatMap(({ key, value }) => (key === ownKey ? [] : publishedIn(value)))
    reading = undefined
  }

  return {
    begin: stats.begin,
    async refresh() {
      const now = clock.now()
      if (now - readAt >= PAUSE_MS) {
        readAt = now
        reading ??= read()
      }
      await reading
    },
    averageOf(target, stream) {
      const key = share(target, 'average')
      const averages = othersPublished.map(({ targets }) => targets[key]?.[stream ? 'streams' : 'answers'])
      return meanOf([stats.averageOf(target, stream), ...averages])
    },
    loadOf(target) {
      const key = share(target, 'load')
      let load = stats.loadOf(target)
      for (const { at, targets } of othersPublished) if (clock.now() - at < LOAD_MS) load += targets[key]?.load ?? 0
      return load
    },
    async close() {
      await publisher.stop()
      if (published) await state.drop(ownKey)
    },
  }
}

const hasChanged = (before: number | undefined, now: number | undefined) =>
  now !== undefined && (before === undefined || Math.abs(now - before) > CHANGE * before)

function meanOf(values: ReadonlyArray<number | undefined>): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length
}

/** Parses an entry of another instance, perhaps of another version of this program; what cannot be read is left out. */
function publishedIn(text: string): Published[] {
  const read = tryParseJson(text)
  if (!isObject(read) || typeof read.at !== 'number' || !isObject(read.targets)) return []
  const targets: Published['targets'] = {}
  for (const [key, target] of Object.entries(read.targets)) {
    if (!isObject(target)) continue
    const { load, streams, answers } = target
    targets[key] = { load: numberIn(load) ?? 0, streams: numberIn(streams), answers: numberIn(answers) }
  }
  return [{ at: read.at, targets }]
}

const numberIn = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
