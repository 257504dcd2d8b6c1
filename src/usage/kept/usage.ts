import type { CancelDeadline } from '../../lib/deadline.ts'
import { once } from '../../lib/promises.ts'
import type { Freshness } from '../../store/cached.ts'
import type { Clock, Logger, Storage } from '../../types.ts'
import type { Keeper, KeptDays } from './keeper.ts'
import type { LiveStream } from './live.ts'
import { RequestQueue } from './queue.ts'
import type { UsageReader } from './reader.ts'
import type { KeptRequest } from './record.ts'

/** The kept usage of a gateway: the records of requests and their sums, in the storage. */
export interface KeptUsage {
  /** Keeps a request that is over, in the background. Never throws. */
  keep(request: KeptRequest, waitUntil?: (work: Promise<unknown>) => void): void
  /**
   * The requests that end from now on as a stream of server-sent events: those of this instance at once, those of others when they have written
   * them, where the storage tells of changes. It ends with its reader and with the gateway.
   */
  live(): Promise<LiveStream>
  /** Calls `listener` with the requests that other instances write, where the storage tells of changes; one listener at most. */
  followOthers(listener: (request: KeptRequest) => void): Promise<void>
  reader(): Promise<UsageReader>
  /** Writes what waits. Never rejects. */
  close(): Promise<void>
}

interface KeptUsageOptions {
  storage: Storage
  clock: Clock
  logger: Logger
  /** Tells of changes of others. */
  freshness: Pick<Freshness, 'onChange'>
  /** The settings of how long usage is kept. */
  settings(): Promise<{ usage?: { keepRequestsDays?: number; keepTotalsDays?: number } }>
  startTimer(ms: number, onTime: () => void): CancelDeadline
  onError(error: unknown): void
}

/** How many days usage is kept unless the settings say otherwise. */
const KEPT_DAYS: Readonly<KeptDays> = { requests: 30, totals: 400 }

/** Values are no longer than this, so that many fit into one read; in characters. */
const MOST_CHARACTERS = 1_000_000
/** A character takes up to three bytes, and most take one. */
const BYTES_LEFT = 0.6

/** What writes and reads is loaded when it is needed. */
export function keepUsage({
  storage,
  clock,
  logger,
  freshness,
  settings,
  startTimer,
  onError,
}: KeptUsageOptions): KeptUsage {
  const { largestValueBytes = Number.POSITIVE_INFINITY } = storage
  const mostCharacters = Math.min(MOST_CHARACTERS, largestValueBytes * BYTES_LEFT)

  async function days(): Promise<KeptDays> {
    const { usage = {} } = await settings().catch(() => ({ usage: {} })) // whoever asks will hear of it
    const { keepRequestsDays = KEPT_DAYS.requests, keepTotalsDays = KEPT_DAYS.totals }: DaysSet = usage
    return { requests: keepRequestsDays, totals: Math.max(keepTotalsDays, keepRequestsDays) }
  }

  const instance = once(async () => crypto.randomUUID().slice(0, 8))
  let loaded: Keeper | undefined
  const keeper = once(async () => {
    const { Keeper } = await import('./keeper.ts')
    loaded = new Keeper({ storage, clock, instance: await instance(), days, mostCharacters, onError })
    return loaded
  })
  const queue = new RequestQueue({
    logger,
    startTimer,
    writer: keeper,
    mostCharacters: Math.min(MOST_BATCH_CHARACTERS, mostCharacters / 2),
  })

  const streams = new Set<LiveStream>()
  let onOther: ((request: KeptRequest) => void) | undefined
  const live = once(async () => {
    const { followJournal, LiveStream } = await import('./live.ts')
    const send = (request: KeptRequest) => {
      for (const stream of streams) stream.send(request)
    }
    followJournal({
      storage,
      freshness,
      instance: await instance(),
      hasReaders: () => streams.size > 0 || onOther !== undefined,
      send(request) {
        send(request)
        onOther?.(request)
      },
      onError,
    })
    queue.listen(send)
    return { open: () => new LiveStream(startTimer) }
  })

  return {
    keep: (request, waitUntil) => queue.add(request, waitUntil),
    async live() {
      const stream = (await live()).open()
      streams.add(stream)
      stream.onEnd(() => streams.delete(stream))
      return stream
    },
    async followOthers(listener) {
      await live()
      onOther = listener
    },
    reader: once(async () => {
      const { UsageReader } = await import('./reader.ts')
      return new UsageReader({ storage, clock, queue, instance: await instance(), days })
    }),
    async close() {
      for (const stream of streams) stream.end()
      await queue.close(async () => loaded?.close().catch(onError))
    },
  }
}

type DaysSet = NonNullable<Awaited<ReturnType<KeptUsageOptions['settings']>>['usage']>

const MOST_BATCH_CHARACTERS = 200_000
