import { getRequestTime } from '../../lib/request-id.ts'
import { getRequestHour, getShard, type TimeSpan } from './layout.ts'
import type { StoredRequest } from './request-record.ts'
import { encodeRow, encodeRows, StringTable } from './usage-codec.ts'

/** Maximum requests per value. */
export const MAX_REQUESTS_PER_VALUE = 250

/** A value that still has room, with requests from one shard and hour. */
export class OpenValue {
  readonly shard: string
  /** The start of the hour, in epoch ms. */
  readonly hour: number
  readonly stringTable = new StringTable()
  /** Rows whose batch is in the journal. */
  readonly rows: string[] = []
  readonly span: TimeSpan = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY }
  /** The key of the last write and the number of rows that it contained. */
  lastWrite: { key: string; rows: number } | undefined = undefined
  /** The number of rows encoded for this value so far. */
  encodedCount = 0
  #size = 0

  constructor(shard: string, hour: number) {
    this.shard = shard
    this.hour = hour
  }

  encodeRow(request: StoredRequest): string {
    const row = encodeRow(request, this.stringTable)
    this.encodedCount++
    this.#size += row.length
    return row
  }

  hasRoom(maxCharacters: number): boolean {
    return this.encodedCount < MAX_REQUESTS_PER_VALUE && this.#size + this.stringTable.size < maxCharacters / 2
  }

  /** Adds rows. Call this once their batch is in the journal. */
  add(rows: readonly string[], { first, last }: TimeSpan): void {
    for (const row of rows) this.rows.push(row)
    this.span.first = Math.min(this.span.first, first)
    this.span.last = Math.max(this.span.last, last)
  }

  /** Encodes the value. `omittedCount` is the number of leading rows to omit. */
  encode(time: number, omittedCount: number): string {
    return encodeRows(this.stringTable.texts, this.rows.slice(omittedCount), time)
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
  encodeRows(requests: readonly StoredRequest[]): PlacedRows[] {
    const rowsByValue = new Map<OpenValue, PlacedRows>()
    for (const request of requests) {
      const value = this.#getValue(request)
      const row = value.encodeRow(request)
      const time = getRequestTime(request.id)
      const placedRows = rowsByValue.get(value)
      if (!placedRows)
        rowsByValue.set(value, { value, requests: [request], rows: [row], span: { first: time, last: time } })
      else {
        placedRows.requests.push(request)
        placedRows.rows.push(row)
        placedRows.span.first = Math.min(placedRows.span.first, time)
        placedRows.span.last = Math.max(placedRows.span.last, time)
      }
    }
    return [...rowsByValue.values()]
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
    const hour = getRequestHour(request.id)
    const valuesByShard = this.#values.get(hour) ?? new Map<string, OpenValue>()
    this.#values.set(hour, valuesByShard)
    const openValue = valuesByShard.get(shard)
    if (openValue?.hasRoom(this.#maxCharacters)) return openValue
    const value = new OpenValue(shard, hour)
    valuesByShard.set(shard, value)
    return value
  }
}
