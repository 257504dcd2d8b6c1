import { getRequestTime } from '../../lib/request-id.ts'
import { getHour, getShard, type TimeSpan } from './layout.ts'
import type { StoredRequest } from './request-record.ts'
import { encodeRow, encodeRows, StringTable } from './usage-codec.ts'

/** Maximum requests per value. */
export const MAX_REQUESTS = 250

/** A value that still has room, with requests from one shard and hour. */
export class OpenValue {
  readonly shard: string
  /** The start of the hour, in epoch ms. */
  readonly hour: number
  readonly table = new StringTable()
  /** Rows whose batch is in the journal. */
  readonly rows: string[] = []
  readonly span: TimeSpan = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY }
  /** The key of the last write and the number of rows that it contained. */
  lastWrite: { key: string; rows: number } | undefined = undefined
  /** The number of rows encoded for this value so far. */
  placedCount = 0
  #size = 0

  constructor(shard: string, hour: number) {
    this.shard = shard
    this.hour = hour
  }

  encodeRow(request: StoredRequest): string {
    const row = encodeRow(request, this.table)
    this.placedCount++
    this.#size += row.length
    return row
  }

  hasRoom(maxCharacters: number): boolean {
    return this.placedCount < MAX_REQUESTS && this.#size + this.table.size < maxCharacters / 2
  }

  /** Adds rows. Call this once their batch is in the journal. */
  add(rows: readonly string[], { first, last }: TimeSpan): void {
    for (const row of rows) this.rows.push(row)
    this.span.first = Math.min(this.span.first, first)
    this.span.last = Math.max(this.span.last, last)
  }

  /** Encodes the value. `omitted` is the number of leading rows to omit. */
  encode(time: number, omitted: number): string {
    return encodeRows(this.table.texts, this.rows.slice(omitted), time)
  }
}

/** The rows of a batch that go into one value. */
export interface PlacedRows {
  value: OpenValue
  requests: StoredRequest[]
  rows: string[]
  span: TimeSpan
}

/** An instance's values that still have room. */
export class OpenValues {
  /** By hour and shard. */
  readonly #values = new Map<number, Map<string, OpenValue>>()
  readonly #maxCharacters: number

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters
  }

  /** Encodes each request for a value with room, without adding it to the value yet. */
  place(requests: readonly StoredRequest[]): PlacedRows[] {
    const placedCount = new Map<OpenValue, PlacedRows>()
    for (const request of requests) {
      const value = this.#getValue(request)
      const row = value.encodeRow(request)
      const time = getRequestTime(request.id)
      const count = placedCount.get(value)
      if (!count) placedCount.set(value, { value, requests: [request], rows: [row], span: { first: time, last: time } })
      else {
        count.requests.push(request)
        count.rows.push(row)
        count.span.first = Math.min(count.span.first, time)
        count.span.last = Math.max(count.span.last, time)
      }
    }
    return [...placedCount.values()]
  }

  /** Closes all values. */
  clear(): void {
    this.#values.clear()
  }

  /** Closes the values of earlier hours. */
  closeBefore(hour: number): void {
    for (const otherHour of this.#values.keys()) if (otherHour < hour) this.#values.delete(otherHour)
  }

  #getValue(request: StoredRequest): OpenValue {
    const shard = getShard(request)
    const hour = getHour(request.id)
    const hours = this.#values.get(hour) ?? new Map<string, OpenValue>()
    this.#values.set(hour, hours)
    const existing = hours.get(shard)
    if (existing?.hasRoom(this.#maxCharacters)) return existing
    const value = new OpenValue(shard, hour)
    hours.set(shard, value)
    return value
  }
}
