import type { CancelDeadline } from '../../lib/deadline.ts'
import { once } from '../../lib/promises.ts'
import type { FreshnessTracker } from '../../records/cached.ts'
import type { Clock, Logger, Storage } from '../../types.ts'
import type { Keeper, RetentionDays } from './keeper.ts'
import { RequestQueue } from './queue.ts'
import type { UsageReader } from './reader.ts'
import type { StoredRequest } from './request-record.ts'
import type { LiveStream } from './usage-feed.ts'

/** A gateway's stored usage: request records and totals. */
export interface UsageStore {
  /** Stores a finished request in the background. Never throws. */
  storeRequest(request: StoredRequest, waitUntil?: (work: Promise<unknown>) => void): void
  /**
   * Streams requests as server-sent events as they end. Includes other instances' requests once they are written, if the storage reports changes. The
   * stream ends when the reader disconnects or the gateway closes.
   */
  streamRequests(): Promise<LiveStream>
  /** Calls `listener` with requests written by other instances, if the storage reports changes. Supports only one listener. */
  followPeers(listener: (request: StoredRequest) => void): Promise<void>
  getReader(): Promise<UsageReader>
  /** Writes all waiting requests. Never rejects. */
  close(): Promise<void>
}

interface RetentionSettings {
  usage?: { keepRequestsDays?: number; keepTotalsDays?: number }
}

export interface UsageStoreOptions {
  storage: Storage
  clock: Clock
  logger: Logger
  /** Reports changes made by other instances. */
  freshness: Pick<FreshnessTracker, 'onChange'>
  /** Returns the settings with the retention periods. */
  readSettings(): Promise<RetentionSettings>
  startTimer(ms: number, onExpire: () => void): CancelDeadline
  /** Yields to the event loop so other work can run. */
  nextTurn(): Promise<void>
  onError(error: unknown): void
}

const DEFAULT_DAYS: Readonly<RetentionDays> = { requests: 30, totals: 400 }

/** Maximum number of characters in a value. A single read can return many values, so each one must be readable within milliseconds. */
const MAX_VALUE_CHARACTERS = 500_000
const MAX_BATCH_CHARACTERS = 200_000
/** Maximum characters per byte of the storage's size limit. A character takes up to three bytes, but most take one. */
const USABLE_SHARE = 0.6

/** Creates a gateway's usage store. Loads the writer and the reader lazily. */
export function createUsageStore({
  storage,
  clock,
  logger,
  freshness,
  readSettings,
  startTimer,
  nextTurn,
  onError,
}: UsageStoreOptions): UsageStore {
  const { largestValueBytes = Number.POSITIVE_INFINITY } = storage
  const maxCharacters = Math.min(MAX_VALUE_CHARACTERS, largestValueBytes * USABLE_SHARE)

  async function readRetention(): Promise<RetentionDays> {
    const { usage }: RetentionSettings = await readSettings().catch(() => ({})) // the next read of the settings reports the error
    const requests = usage?.keepRequestsDays ?? DEFAULT_DAYS.requests
    return { requests, totals: Math.max(usage?.keepTotalsDays ?? DEFAULT_DAYS.totals, requests) }
  }

  const getInstanceId = once(async () => crypto.randomUUID().slice(0, 8))
  let loadedKeeper: Keeper | undefined
  const getKeeper = once(async () => {
    const { Keeper } = await import('./keeper.ts')
    loadedKeeper = new Keeper({
      storage,
      clock,
      instanceId: await getInstanceId(),
      readRetention,
      maxCharacters,
      nextTurn,
      onError,
    })
    return loadedKeeper
  })
  const queue = new RequestQueue({
    logger,
    startTimer,
    getWriter: getKeeper,
    maxCharacters: Math.min(MAX_BATCH_CHARACTERS, maxCharacters / 2),
  })

  const streams = new Set<LiveStream>()
  let peerListener: ((request: StoredRequest) => void) | undefined
  const getLiveFeed = once(async () => {
    const { followJournal, LiveStream } = await import('./usage-feed.ts')
    const send = (request: StoredRequest) => {
      for (const stream of streams) stream.send(request)
    }
    followJournal({
      storage,
      freshness,
      instanceId: await getInstanceId(),
      hasReaders: () => streams.size > 0 || peerListener !== undefined,
      send(request) {
        send(request)
        peerListener?.(request)
      },
      onError,
    })
    queue.subscribe(send)
    return { open: () => new LiveStream(startTimer) }
  })

  return {
    storeRequest: (request, waitUntil) => queue.add(request, waitUntil),
    async streamRequests() {
      const stream = (await getLiveFeed()).open()
      streams.add(stream)
      stream.onEnd(() => streams.delete(stream))
      return stream
    },
    async followPeers(listener) {
      await getLiveFeed()
      peerListener = listener
    },
    getReader: once(async () => {
      const { UsageReader } = await import('./reader.ts')
      return new UsageReader({ storage, clock, queue, instanceId: await getInstanceId(), readRetention })
    }),
    async close() {
      for (const stream of streams) stream.end()
      await queue.close(async () => loadedKeeper?.close().catch(onError))
    },
  }
}
