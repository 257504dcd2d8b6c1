import type { Clock, Storage } from '../../types.ts'
import { decodeRequests } from './codec.ts'
import type { KeptDays } from './keeper.ts'
import {
  beforePeriod,
  beforeRequests,
  DAY_MS,
  HOUR_MS,
  PERIOD_MS,
  type Period,
  periodStart,
  requestsOf,
  SHARDS,
  shardOf,
  spanOf,
  totalsOf,
} from './layout.ts'
import { fitsRequest, fitsRow, type RequestFilter, type TimeRange, type UsageFilter } from './query.ts'
import type { RequestQueue } from './queue.ts'
import { idAfter, type KeptRequest, timeOfId } from './record.ts'
import { ShardScan } from './scan.ts'
import { readTail, type TailBatch } from './tail.ts'
import { type Dimensions, decodeTotals, rowsOf, type Sums } from './totals.ts'

interface ReaderOptions {
  storage: Storage
  clock: Clock
  queue: Pick<RequestQueue, 'batches'>
  instance: string
  days(): Promise<KeptDays>
}

/** A page of requests. */
export interface RequestPage {
  requests: KeptRequest[]
  /** Where the next page begins: the ids of its requests are below. Absent when there are no more. */
  before?: string
}

/** Called with sums of a part of the time; `at`: when the hour or the day of it begins, epoch ms. */
type OnSums = (row: { of: Dimensions; sums: Readonly<Sums> }, at: number) => void

/** A page ends after so many requests were looked at, whether it is full or not. */
const MOST_LOOKED_AT = 200_000
/** How many values of requests are read at once where one request is looked for. */
const FEW = 4
/** How many values of sums are read at once. */
const PAGE = 50

/** Reads the kept requests and sums, including those that this process has not written yet. Methods reject when the storage cannot be read. */
export class UsageReader {
  readonly #options: ReaderOptions

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** One request; `undefined` when it is not kept. */
  async request(id: string): Promise<KeptRequest | undefined> {
    const { storage } = this.#options
    const time = timeOfId(id)
    if (time < (await this.oldest())) return undefined
    for (const { requests } of await this.#tail()) for (const request of requests) if (request.id === id) return request
    const found = await Promise.all(SHARDS.map((shard) => requestIn(storage, shard, id)))
    return found.find((request) => request !== undefined)
  }

  /** The newest requests first, at most `limit` of them. */
  async requests(
    filter: RequestFilter,
    { from, to, before, limit }: TimeRange & { before?: string | undefined; limit: number },
  ): Promise<RequestPage> {
    const scan = {
      from: Math.max(from, await this.oldest()),
      to: before === undefined ? to : Math.min(to, timeOfId(before) + 1),
      before,
      keyId: filter.keyId,
      isMeant: (request: KeptRequest) => fitsRequest(filter, request),
    }
    const shards = await this.#scansOf(filter, scan)
    const requests: KeptRequest[] = []
    for (;;) {
      const next = await this.#newest(shards)
      if (typeof next === 'number') return { requests, before: idAfter(next) }
      if (!next) return { requests }
      const last = requests.at(-1)
      const request = next.first
      next.take()
      if (!request || request.id === last?.id) continue // it lies in two values
      if (requests.length === limit) return { requests, ...(last && { before: last.id }) }
      requests.push(request)
    }
  }

  async #scansOf(filter: UsageFilter, scan: ConstructorParameters<typeof ShardScan>[2]['scan']): Promise<ShardScan[]> {
    const tail = new Map<string, KeptRequest[]>()
    for (const { requests } of await this.#tail())
      for (const request of requests) {
        const shard = shardOf(request.keyId)
        const own = tail.get(shard)
        if (own) own.push(request)
        else tail.set(shard, [request])
      }
    return shardsOf(filter).map(
      (shard) => new ShardScan(this.#options.storage, shard, { scan, found: tail.get(shard) ?? [] }),
    )
  }

  /**
   * The scan whose first request is the newest of all; `undefined` when there are no more. A time, when too many were looked at: all that are
   * newer have been found.
   */
  async #newest(shards: readonly ShardScan[]): Promise<ShardScan | number | undefined> {
    for (;;) {
      let newest: ShardScan | undefined
      let read = 0
      for (const shard of shards) {
        read += shard.read
        if (shard.first && (!newest?.first || shard.first.id > newest.first.id)) newest = shard
      }
      const time = newest?.first ? timeOfId(newest.first.id) : Number.NEGATIVE_INFINITY
      const unread = shards.filter(({ position }) => position > Number.NEGATIVE_INFINITY && position >= time)
      if (unread.length === 0) return newest
      const furthest = Math.max(...unread.map(({ position }) => position))
      if (read > MOST_LOOKED_AT && furthest < Number.POSITIVE_INFINITY) return furthest
      const behind = unread.filter(({ position }) => position >= furthest - HOUR_MS)
      await Promise.all(behind.map((shard) => shard.advance()))
    }
  }

  /**
   * Calls back with the sums of all matching requests, where each request is part of one row. The times may be any; parts of an hour are summed up
   * from the requests. `unit`: the shortest time that the sums are to be told apart by. Returns the time range that was summed up, and whether
   * something was left out of sums that were too large.
   */
  async sums(
    filter: UsageFilter,
    { from, to, unit }: TimeRange & { unit: Period },
    onSums: OnSums,
  ): Promise<TimeRange & { isLessPrecise: boolean }> {
    const { clock } = this.#options
    const { totals } = await this.#options.days()
    const oldest = await this.oldest()
    const nextHour = (Math.floor(clock.now() / HOUR_MS) + 1) * HOUR_MS
    const range = {
      from: Math.max(from, clock.now() - totals * DAY_MS),
      to: Math.max(Math.min(to, nextHour), 0),
    }
    if (range.from < oldest || range.from < 0) range.from = Math.max(0, Math.floor(range.from / HOUR_MS) * HOUR_MS) // its requests are gone
    if (range.to < oldest) range.to = Math.ceil(range.to / HOUR_MS) * HOUR_MS
    const whole = { from: Math.ceil(range.from / HOUR_MS) * HOUR_MS, to: Math.floor(range.to / HOUR_MS) * HOUR_MS }
    let isLessPrecise = false
    if (whole.from <= whole.to) {
      await this.#sumRequests(filter, { from: range.from, to: whole.from }, onSums)
      await this.#sumRequests(filter, { from: whole.to, to: range.to }, onSums)
      isLessPrecise = await this.#sumPeriods(filter, { ...whole, unit }, onSums)
    } else await this.#sumRequests(filter, range, onSums)
    return { ...range, isLessPrecise }
  }

  /** Sums up single requests. */
  async #sumRequests(filter: UsageFilter, { from, to }: TimeRange, onSums: OnSums): Promise<void> {
    if (from >= to) return
    for (let before: string | undefined; ; ) {
      const page = await this.requests(filter, { from, to, before, limit: 5_000 })
      for (const request of page.requests)
        for (const row of rowsOf(request)) if (fitsRow(filter, row.of)) onSums(row, hourAt(request.id))
      if (page.before === undefined) return
      before = page.before
    }
  }

  async #sumPeriods(
    filter: UsageFilter,
    { from, to, unit }: TimeRange & { unit: Period },
    onSums: OnSums,
  ): Promise<boolean> {
    const tail = await this.#tail() // before the sums, which say what of it they hold
    const parts = partsOf({ from, to }, unit)
    const results = await Promise.all(
      shardsOf(filter).flatMap((shard) => parts.map((part) => this.#sumPart({ ...part, shard, filter, tail }, onSums))),
    )
    return results.some((isLessPrecise) => isLessPrecise)
  }

  /** Sums up the hours or the days of a time range in one shard. */
  async #sumPart(
    { from, to, period, shard, filter, tail }: PartOfTime & { shard: string; filter: UsageFilter; tail: TailBatch[] },
    onSums: OnSums,
  ): Promise<boolean> {
    const { storage } = this.#options
    const throughs = new Map<number, Array<Record<string, number>>>()
    let isLessPrecise = false
    const most = Math.ceil((to - from) / PERIOD_MS[period]) + 1
    for (let after = beforePeriod(period, shard, from), isOver = from >= to; !isOver; ) {
      const limit = Math.min(PAGE, most)
      const page = await storage.list(totalsOf(period, shard), { after, limit })
      isOver = page.length < limit
      for (const { key, value } of page) {
        after = key
        const at = periodStart(period, key)
        if (at >= to) {
          isOver = true
          break
        }
        const totals = decodeTotals(value)
        if (!totals) continue
        isLessPrecise ||= totals.leftOut > 0
        throughs.set(at, [...(throughs.get(at) ?? []), totals.through])
        for (const row of totals.rows()) if (fitsRow(filter, row.of)) onSums(row, at)
      }
    }
    this.#sumTail({ from, to, period, shard, filter, tail }, throughs, onSums)
    return isLessPrecise
  }

  /** Sums up what has not been folded into the sums that were read. */
  #sumTail(
    { from, to, period, shard, filter, tail }: PartOfTime & { shard: string; filter: UsageFilter; tail: TailBatch[] },
    throughs: ReadonlyMap<number, ReadonlyArray<Record<string, number>>>,
    onSums: OnSums,
  ): void {
    for (const { instance, number, requests } of tail)
      for (const request of requests) {
        const time = timeOfId(request.id)
        if (time < from || time >= to || shardOf(request.keyId) !== shard) continue
        const at = Math.floor(time / PERIOD_MS[period]) * PERIOD_MS[period]
        if (throughs.get(at)?.some((through) => (through[instance] ?? 0) >= number)) continue
        for (const row of rowsOf(request)) if (fitsRow(filter, row.of)) onSums(row, at)
      }
  }

  #tail(): Promise<TailBatch[]> {
    return readTail(this.#options.storage, this.#options)
  }

  /** When the oldest request came that is kept, at the earliest; epoch ms. */
  async oldest(): Promise<number> {
    const { clock, days } = this.#options
    return clock.now() - (await days()).requests * DAY_MS
  }
}

/** A time range, and the periods by whose sums it is summed up. */
interface PartOfTime extends TimeRange {
  period: Period
}

/** Whole hours, as days where whole days are in between and need not be told apart. */
function partsOf({ from, to }: TimeRange, unit: Period): PartOfTime[] {
  const firstDay = Math.ceil(from / DAY_MS) * DAY_MS
  const lastDay = Math.floor(to / DAY_MS) * DAY_MS
  if (unit === 'hour' || firstDay >= lastDay) return [{ from, to, period: 'hour' }]
  return [
    { from, to: firstDay, period: 'hour' },
    { from: firstDay, to: lastDay, period: 'day' },
    { from: lastDay, to, period: 'hour' },
  ]
}

/** The shards that can hold matching requests. */
const shardsOf = ({ keyId }: UsageFilter): readonly string[] => (keyId === undefined ? SHARDS : [shardOf(keyId)])

const hourAt = (id: string) => Math.floor(timeOfId(id) / HOUR_MS) * HOUR_MS

/** The request with this id in the values of a shard. */
async function requestIn(storage: Storage, shard: string, id: string): Promise<KeptRequest | undefined> {
  const time = timeOfId(id)
  for (let after = beforeRequests(shard, time + 1); ; ) {
    const page = await storage.list(requestsOf(shard), { after, limit: FEW })
    for (const { key, value } of page) {
      after = key
      const { first, last } = spanOf(key)
      if (last < time) return undefined
      if (first > time || !value.includes(id)) continue
      const found = decodeRequests(value)?.requests.find((request) => request.id === id)
      if (found) return found
    }
    if (page.length < FEW) return undefined
  }
}
