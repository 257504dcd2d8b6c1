import { getIdAfter, getRequestTime } from '../../lib/request-id.ts'
import type { Clock, Storage } from '../../types.ts'
import type { RetentionDays } from './keeper.ts'
import {
  DAY_MS,
  getPeriodCursor,
  getRequestHour,
  getRequestsCursor,
  getRequestsPrefix,
  getShard,
  getTotalsPrefix,
  getUnlistedCursor,
  HOUR_MS,
  PERIOD_MS,
  type Period,
  parsePeriodStart,
  parseTimeSpan,
  parseUnlistedTime,
  SHARDS,
  UNLISTED_PREFIX,
} from './layout.ts'
import { matchesRequest, matchesRow, type RequestFilter, type TimeRange, type UsageFilter } from './query.ts'
import type { RequestQueue } from './queue.ts'
import { readRemovedTime } from './remove-oldest.ts'
import type { StoredRequest } from './request-record.ts'
import { type Scan, ShardScan } from './scan.ts'
import { type Dimensions, decodeTotals, getTotalsRows, type RowTotals, type Totals } from './totals.ts'
import { decodeRequests } from './usage-codec.ts'
import { readTail, type TailBatch } from './usage-tail.ts'

interface ReaderOptions {
  storage: Storage
  clock: Clock
  queue: Pick<RequestQueue, 'batches'>
  instanceId: string
  readRetention(): Promise<RetentionDays>
}

/** A page's time range, cursor, and maximum length. */
interface PageRange extends TimeRange {
  before?: string | undefined
  limit: number
  /** Whether to count the requests without a record in the time range. */
  countsMissing?: boolean
}

/** A page of requests. */
export interface RequestPage {
  requests: StoredRequest[]
  /** The cursor for the next page, whose requests have smaller IDs. Absent on the last page. */
  before?: string
  /** The number of requests without a record in the time range. Absent if 0. */
  missing?: number
}

/** Receives the totals of one hour or day. `time` is its start in epoch ms. */
type OnTotals = (row: { dimensions: Dimensions; sums: Readonly<RowTotals> }, time: number) => void

/** Maximum number of requests to check for a page. Beyond that, a page ends even if it isn't full. */
const MAX_CHECKED_REQUESTS = 200_000
const FIRST_PAGE_SIZE = 4
const PAGE_SIZE = 50

/** Reads request records and totals, including those that this process hasn't written yet. Methods reject if storage can't be read. */
export class UsageReader {
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Returns a request, or `undefined` if there is no record of it. */
  async findRequest(id: string): Promise<StoredRequest | undefined> {
    const { storage } = this.#options
    const time = getRequestTime(id)
    if (time < (await this.getOldestTime())) return undefined
    for (const { requests } of await this.#readTail())
      for (const request of requests) if (request.id === id) return request
    const matches = await Promise.all(SHARDS.map((shard) => findRequest(storage, shard, id)))
    return matches.find((request) => request !== undefined)
  }

  /** Returns up to `limit` requests, newest first. */
  async listRequests(filter: RequestFilter, page: PageRange): Promise<RequestPage> {
    const tail = await this.#readTail(filter.keyId)
    const requestPage = await this.#listRequests(filter, page, tail)
    const missingCount = page.countsMissing ? await this.#countMissing(filter, page, tail) : 0
    return missingCount > 0 ? { ...requestPage, missing: missingCount } : requestPage
  }

  /** Returns the arrival time of each key's latest request within the key's time range, in epoch ms by key ID. Omits keys without requests. */
  async findLatestTimes(ranges: ReadonlyMap<string, TimeRange>): Promise<Map<string, number>> {
    const tail = await this.#readTail()
    const latestTimes = new Map<string, number>()
    const lookups = Array.from(ranges, async ([keyId, range]) => {
      const [latest] = (await this.#listRequests({ keyId }, { ...range, limit: 1 }, tail)).requests
      if (latest) latestTimes.set(keyId, getRequestTime(latest.id))
    })
    await Promise.all(lookups)
    return latestTimes
  }

  async #listRequests(
    filter: RequestFilter,
    { from, to, before, limit }: PageRange,
    tail: readonly TailBatch[],
  ): Promise<RequestPage> {
    const scan = {
      from: Math.max(from, await this.getOldestTime()),
      to: before === undefined ? to : Math.min(to, getRequestTime(before) + 1),
      before,
      keyId: filter.keyId,
      matches: (request: StoredRequest) => matchesRequest(filter, request),
    }
    const shardScans = this.#createScans(filter, scan, tail)
    const requests: StoredRequest[] = []
    for (;;) {
      const newestScan = await this.#findNewest(shardScans)
      if (typeof newestScan === 'number') return { requests, before: getIdAfter(newestScan) }
      if (!newestScan) return { requests }
      const lastRequest = requests.at(-1)
      const request = newestScan.newest
      newestScan.removeNewest()
      if (!request || request.id === lastRequest?.id) continue // a request may be stored twice
      if (requests.length === limit) return { requests, ...(lastRequest && { before: lastRequest.id }) }
      requests.push(request)
    }
  }

  #createScans(filter: UsageFilter, scan: Scan, tail: readonly TailBatch[]): ShardScan[] {
    const requestsByShard = new Map<string, StoredRequest[]>()
    for (const { requests } of tail)
      for (const request of requests) {
        const shard = getShard(request)
        const shardRequests = requestsByShard.get(shard)
        if (shardRequests) shardRequests.push(request)
        else requestsByShard.set(shard, [request])
      }
    return listShards(filter).map(
      (shard) =>
        new ShardScan(this.#options.storage, shard, { scan, journalRequests: requestsByShard.get(shard) ?? [] }),
    )
  }

  /**
   * Returns the scan with the newest remaining request, or `undefined` if none remain. If too many requests have been checked, returns a time
   * instead: all matching requests after it have been found.
   */
  async #findNewest(shardScans: readonly ShardScan[]): Promise<ShardScan | number | undefined> {
    for (;;) {
      let newestScan: ShardScan | undefined
      let readCount = 0
      for (const shard of shardScans) {
        readCount += shard.readCount
        if (shard.newest && (!newestScan?.newest || shard.newest.id > newestScan.newest.id)) newestScan = shard
      }
      const time = newestScan?.newest ? getRequestTime(newestScan.newest.id) : Number.NEGATIVE_INFINITY
      const unreadScans = shardScans.filter(({ position }) => position > Number.NEGATIVE_INFINITY && position >= time)
      if (unreadScans.length === 0) return newestScan
      const furthestPosition = Math.max(...unreadScans.map(({ position }) => position))
      if (readCount > MAX_CHECKED_REQUESTS && furthestPosition < Number.POSITIVE_INFINITY) return furthestPosition
      const nextScans = unreadScans.filter(({ position }) => position >= furthestPosition - HOUR_MS)
      await Promise.all(nextScans.map((shard) => shard.advance()))
    }
  }

  /**
   * Calls `onTotals` with the totals of all matching requests. Counts each request in one row. Aggregates individual requests for parts of an hour.
   * `unit` is the shortest period that rows must distinguish. Returns the actual time range and whether some totals lack dimensions because they were
   * too large.
   */
  async sumUsage(
    filter: UsageFilter,
    { from, to, unit }: TimeRange & { unit: Period },
    onTotals: OnTotals,
  ): Promise<TimeRange & { isApproximate: boolean }> {
    const { clock } = this.#options
    const { totals } = await this.#options.readRetention()
    const oldestTime = await this.getOldestTime()
    const nextHour = (Math.floor(clock.now() / HOUR_MS) + 1) * HOUR_MS
    const range = {
      from: Math.max(from, clock.now() - totals * DAY_MS),
      to: Math.max(Math.min(to, nextHour), 0),
    }
    if (range.from < oldestTime || range.from < 0) range.from = Math.max(0, Math.floor(range.from / HOUR_MS) * HOUR_MS) // older requests are deleted; only hourly totals remain
    if (range.to < oldestTime) range.to = Math.ceil(range.to / HOUR_MS) * HOUR_MS
    const fullHours = { from: Math.ceil(range.from / HOUR_MS) * HOUR_MS, to: Math.floor(range.to / HOUR_MS) * HOUR_MS }
    let isApproximate = false
    if (fullHours.from <= fullHours.to) {
      await this.#sumRequests(filter, { from: range.from, to: fullHours.from }, onTotals)
      await this.#sumRequests(filter, { from: fullHours.to, to: range.to }, onTotals)
      isApproximate = await this.#sumPeriods(filter, { ...fullHours, unit }, onTotals)
    } else await this.#sumRequests(filter, range, onTotals)
    return { ...range, isApproximate }
  }

  async #sumRequests(filter: UsageFilter, { from, to }: TimeRange, onTotals: OnTotals): Promise<void> {
    if (from >= to) return
    await this.#sumUnlisted(filter, { from, to, tail: await this.#readTail(filter.keyId) }, onTotals)
    for (let before: string | undefined; ; ) {
      const page = await this.listRequests(filter, { from, to, before, limit: 5_000 })
      for (const request of page.requests)
        for (const row of getTotalsRows(request))
          if (matchesRow(filter, row.dimensions)) onTotals(row, getRequestHour(request.id))
      if (page.before === undefined) return
      before = page.before
    }
  }

  async #sumPeriods(
    filter: UsageFilter,
    { from, to, unit }: TimeRange & { unit: Period },
    onTotals: OnTotals,
  ): Promise<boolean> {
    const tail = await this.#readTail(filter.keyId) // read this before the totals, which record the batches that they include
    const periodRanges = splitIntoPeriods({ from, to }, unit)
    const results = await Promise.all(
      listShards(filter).flatMap((shard) =>
        periodRanges.map((periodRange) => this.#sumPeriodRange({ ...periodRange, shard, filter, tail }, onTotals)),
      ),
    )
    return results.some((isApproximate) => isApproximate)
  }

  async #sumPeriodRange(
    { from, to, period, shard, filter, tail }: PeriodRange & { shard: string; filter: UsageFilter; tail: TailBatch[] },
    onTotals: OnTotals,
  ): Promise<boolean> {
    const { storage } = this.#options
    const includedBatches = new Map<number, Array<Record<string, number>>>()
    let isApproximate = false
    const maxPeriods = Math.ceil((to - from) / PERIOD_MS[period]) + 1
    for (let after = getPeriodCursor(period, shard, from), isLastPage = from >= to; !isLastPage; ) {
      const limit = Math.min(PAGE_SIZE, maxPeriods)
      const page = await storage.list(getTotalsPrefix(period, shard), { after, limit })
      isLastPage = page.length < limit
      for (const { key, value } of page) {
        after = key
        const periodStart = parsePeriodStart(period, key)
        if (periodStart >= to) {
          isLastPage = true
          break
        }
        const totals = decodeTotals(value)
        if (!totals) continue
        isApproximate ||= totals.droppedCount > 0
        includedBatches.set(periodStart, [...(includedBatches.get(periodStart) ?? []), totals.through])
        for (const row of totals.rows()) if (matchesRow(filter, row.dimensions)) onTotals(row, periodStart)
      }
    }
    this.#sumTail({ from, to, period, shard, filter, tail }, includedBatches, onTotals)
    return isApproximate
  }

  /** Sums the batches that the stored totals don't include. */
  #sumTail(
    { from, to, period, shard, filter, tail }: PeriodRange & { shard: string; filter: UsageFilter; tail: TailBatch[] },
    includedBatches: ReadonlyMap<number, ReadonlyArray<Record<string, number>>>,
    onTotals: OnTotals,
  ): void {
    for (const { instanceId, number, requests, unlisted } of tail) {
      const isPending = (time: number) =>
        !includedBatches.get(time)?.some((lastNumbers) => (lastNumbers[instanceId] ?? 0) >= number)
      const getPeriod = (time: number) => Math.floor(time / PERIOD_MS[period]) * PERIOD_MS[period]
      for (const request of requests) {
        const time = getRequestTime(request.id)
        if (time < from || time >= to || getShard(request) !== shard || !isPending(getPeriod(time))) continue
        for (const row of getTotalsRows(request)) if (matchesRow(filter, row.dimensions)) onTotals(row, getPeriod(time))
      }
      for (const [time, totals] of unlisted)
        if (time >= from && time < to && isPending(getPeriod(time)))
          for (const row of totals.rows())
            if (getShard(row.dimensions) === shard && matchesRow(filter, row.dimensions)) onTotals(row, getPeriod(time))
    }
  }

  async #countMissing(filter: UsageFilter, { from, to }: TimeRange, tail: readonly TailBatch[]): Promise<number> {
    let count = 0
    const range = { from: Math.max(from, await this.getOldestTime()), to }
    await this.#sumUnlisted(filter, { ...range, tail }, ({ sums }) => {
      count += sums.requests
    })
    return count
  }

  async #sumUnlisted(
    filter: UsageFilter,
    { from, to, tail }: TimeRange & { tail: readonly TailBatch[] },
    onTotals: OnTotals,
  ): Promise<void> {
    const { storage } = this.#options
    const includedBatches = new Map<number, Array<Record<string, number>>>()
    const addRows = (totals: Totals, time: number) => {
      for (const row of totals.rows())
        if (matchesRow(filter, row.dimensions)) onTotals(row, Math.floor(time / HOUR_MS) * HOUR_MS)
    }
    for (let after = getUnlistedCursor(from), isLastPage = false; !isLastPage; ) {
      const page = await storage.list(UNLISTED_PREFIX, { after, limit: PAGE_SIZE })
      isLastPage = page.length < PAGE_SIZE
      for (const { key, value } of page) {
        after = key
        const time = parseUnlistedTime(key)
        const totals = decodeTotals(value)
        if (time >= to) isLastPage = true
        if (time < from || time >= to || !totals) continue
        includedBatches.set(time, [...(includedBatches.get(time) ?? []), totals.through])
        addRows(totals, time)
      }
    }
    for (const { instanceId, number, unlisted } of tail)
      for (const [time, totals] of unlisted)
        if (
          time >= from &&
          time < to &&
          !includedBatches.get(time)?.some((lastNumbers) => (lastNumbers[instanceId] ?? 0) >= number)
        )
          addRows(totals, time)
  }

  #readTail(keyId?: string): Promise<TailBatch[]> {
    return readTail(this.#options.storage, { ...this.#options, keyId })
  }

  /** Returns a stored request's earliest possible arrival time, in epoch ms. */
  async getOldestTime(): Promise<number> {
    const { storage, clock, readRetention } = this.#options
    const oldestTime = clock.now() - (await readRetention()).requests * DAY_MS
    return storage.usageRecordLimit ? Math.max(oldestTime, await readRemovedTime(storage)) : oldestTime
  }
}

/** A time range and the period of its totals. */
interface PeriodRange extends TimeRange {
  period: Period
}

/** Splits a range of whole hours into hours and days, or only into hours if rows must distinguish them. */
function splitIntoPeriods({ from, to }: TimeRange, unit: Period): PeriodRange[] {
  const firstDay = Math.ceil(from / DAY_MS) * DAY_MS
  const lastDay = Math.floor(to / DAY_MS) * DAY_MS
  if (unit === 'hour' || firstDay >= lastDay) return [{ from, to, period: 'hour' }]
  return [
    { from, to: firstDay, period: 'hour' },
    { from: firstDay, to: lastDay, period: 'day' },
    { from: lastDay, to, period: 'hour' },
  ]
}

const listShards = ({ keyId }: UsageFilter): readonly string[] => (keyId ? [getShard({ keyId })] : SHARDS)

async function findRequest(storage: Storage, shard: string, id: string): Promise<StoredRequest | undefined> {
  const time = getRequestTime(id)
  for (let after = getRequestsCursor(shard, time + 1); ; ) {
    const page = await storage.list(getRequestsPrefix(shard), { after, limit: FIRST_PAGE_SIZE })
    for (const { key, value } of page) {
      after = key
      const { first, last } = parseTimeSpan(key)
      if (last < time) return undefined
      if (first > time || !value.includes(id)) continue
      const request = decodeRequests(value)?.find((request) => request.id === id)
      if (request) return request
    }
    if (page.length < FIRST_PAGE_SIZE) return undefined
  }
}
