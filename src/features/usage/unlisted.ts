import { getRequestTime } from '../../lib/request-id.ts'
import type { UnlistedByTime } from './batch.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './layout.ts'
import type { StoredRequest } from './request-record.ts'
import { Totals } from './totals.ts'

/** Totals with more rows than this become coarser. */
const MAX_ROWS = 2_000
/** The approximate size of an encoded row without its strings, in characters. */
const BYTES_PER_ROW = 200
/** How totals become coarser, step by step: from minutes to hours, then without four dimensions (totals.ts), then to days. */
const COARSENING_STEPS = [HOUR_MS, 'dimension', 'dimension', 'dimension', 'dimension', DAY_MS] as const

/**
 * Totals of requests without a record, collected while the queue is full. Memory use depends on the number of rows, not on the number of requests.
 */
export class UnlistedTotals {
  #byTime = new Map<number, Totals>()
  #rowCount = 0
  #unitMs = MINUTE_MS
  #stepCount = 0
  #droppedCount = 0
  /** The number of requests. */
  count = 0

  get byTime(): UnlistedByTime {
    return this.#byTime
  }

  add(request: StoredRequest): void {
    this.count++
    const totals = this.#getTotals(getRequestTime(request.id))
    const previousSize = totals.size
    totals.addRequest(request)
    this.#rowCount += totals.size - previousSize
    if (this.#rowCount > MAX_ROWS && this.#stepCount < COARSENING_STEPS.length) this.#coarsen() // each step blocks the event loop for milliseconds
  }

  /** Removes and returns all totals, in parts of about `maxCharacters`. */
  drain(maxCharacters: number): Array<{ unlisted: UnlistedByTime; count: number }> {
    const parts: Array<{ unlisted: Map<number, Totals>; count: number }> = []
    let remainingCharacters = 0
    for (const [time, totals] of this.#byTime)
      for (const row of totals.rows()) {
        const size = BYTES_PER_ROW + Object.values(row.dimensions).reduce((sum, text) => sum + text.length, 0)
        if (remainingCharacters < size) {
          parts.push({ unlisted: new Map(), count: 0 })
          remainingCharacters = maxCharacters
        }
        remainingCharacters -= size
        const part = parts.at(-1)
        if (!part) break
        part.count += row.sums.requests
        getTotals(part.unlisted, time).add(row)
      }
    this.#byTime = new Map()
    this.#rowCount = 0
    this.#unitMs = MINUTE_MS
    this.#stepCount = 0
    this.#droppedCount = 0
    this.count = 0
    return parts
  }

  #getTotals(time: number): Totals {
    const totals = getTotals(this.#byTime, Math.floor(time / this.#unitMs) * this.#unitMs)
    while (totals.droppedCount < this.#droppedCount && totals.dropNextDimension());
    return totals
  }

  #coarsen(): void {
    const step = COARSENING_STEPS[this.#stepCount++] ?? 'dimension'
    if (step === 'dimension') this.#droppedCount++
    else this.#unitMs = step
    const previousByTime = this.#byTime
    this.#byTime = new Map()
    this.#rowCount = 0
    for (const [time, previousTotals] of previousByTime) {
      const totals = this.#getTotals(time)
      const size = totals.size
      for (const row of previousTotals.rows()) totals.add(totals.dropDimensions(row))
      this.#rowCount += totals.size - size
    }
  }
}

function getTotals(byTime: Map<number, Totals>, time: number): Totals {
  const existing = byTime.get(time)
  if (existing) return existing
  const totals = new Totals()
  byTime.set(time, totals)
  return totals
}
