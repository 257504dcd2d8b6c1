import { retryOnConflict } from '../../records/storage-access.ts'
import type { Clock, Storage } from '../../types.ts'
import { DAY_MS, getShard, getTotalsKey, getUnlistedKey, HOUR_MS, MINUTE_MS, PERIOD_MS, type Period } from './layout.ts'
import { decodeTotals, Totals, type TotalsRow } from './totals.ts'

/** Maximum TTL that a store accepts, in ms. */
export const MAX_TTL_MS = 1e12

/** Totals of batches with consecutive numbers. */
export interface BatchTotals {
  first: number
  last: number
  rows: Iterable<TotalsRow>
}

interface AddTotalsOptions {
  storage: Storage
  clock: Clock
  maxCharacters: number
  /** Yields to the event loop so other work can run. */
  nextTurn(): Promise<void>
  onError(error: unknown): void
}

/** Values with more characters than this take milliseconds to read or write. */
const MAX_BATCH_CHARACTERS = 100_000
const ROW_CHARACTERS = 100

/** The totals of one or more batches by shard and hour, and the totals of requests without a record by time. */
export class TotalsByHour {
  readonly hours = new Map<string, { shard: string; hour: number; totals: Totals }>()
  readonly unlisted = new Map<number, Totals>()

  getTotals(shard: string, time: number): Totals {
    const hour = Math.floor(time / HOUR_MS) * HOUR_MS
    const name = `${shard}/${hour}`
    const existing = this.hours.get(name)
    if (existing) return existing.totals
    const totals = new Totals()
    this.hours.set(name, { shard, hour, totals })
    return totals
  }

  /** Adds totals of requests without a record that arrived at `time`. */
  addUnlisted(time: number, sums: Totals): void {
    const totals = this.unlisted.get(time) ?? new Totals()
    this.unlisted.set(time, totals)
    for (const row of sums.rows()) {
      totals.add(row)
      this.getTotals(getShard(row.dimensions), time).add(row)
    }
  }
}

/** The stored totals include only some of the batches, so the caller must fold the batches one by one. */
export class PartialWriteError extends Error {}

/**
 * Adds batch totals to the stored totals, unless they are already included. Throws `PartialWriteError` if the stored totals include only part of the
 * batches.
 */
async function addToTotals(
  { storage, maxCharacters, nextTurn, onError }: AddTotalsOptions,
  { baseKey, instanceId, ttlMs }: { baseKey: string; instanceId: string; ttlMs: number },
  batches: readonly BatchTotals[],
): Promise<void> {
  const key = storage.atomic ? baseKey : `${baseKey}/${instanceId}` // without conditional writes, each instance has its own totals
  await retryOnConflict(async () => {
    const storedEntry = await storage.get(key)
    const decodedTotals = storedEntry && decodeTotals(storedEntry.value)
    if (storedEntry && !decodedTotals)
      onError(new Error(`The usage totals stored under "${key}" are damaged and will be reset.`))
    if (storedEntry && storedEntry.value.length > MAX_BATCH_CHARACTERS) await nextTurn()
    const totals = decodedTotals ?? new Totals()
    const lastIncludedNumber = totals.through[instanceId] ?? 0
    const pendingBatches = batches.filter(({ last }) => last > lastIncludedNumber)
    if (pendingBatches.some(({ first }) => first <= lastIncludedNumber)) throw new PartialWriteError()
    const lastBatch = pendingBatches.at(-1)
    if (!lastBatch) return true
    for (const { rows } of pendingBatches) for (const row of rows) totals.add(totals.dropDimensions(row))
    totals.through[instanceId] = lastBatch.last
    if (totals.size > MAX_BATCH_CHARACTERS / ROW_CHARACTERS) await nextTurn()
    return storage.set(key, totals.encode(maxCharacters), {
      ifVersion: storedEntry?.version ?? null,
      ttlMs,
      durability: 'relaxed',
    })
  })
}

/** Adds batch totals to the stored totals for their hours and days. Throws the same errors as `addToTotals`. */
export async function addTotalsByHour(
  options: AddTotalsOptions,
  { instanceId, days }: { instanceId: string; days: { requests: number; totals: number } },
  batches: ReadonlyArray<{ first: number; last: number; sums: TotalsByHour }>,
): Promise<void> {
  const now = options.clock.now()
  const entries = new Map<string, { end: number; retentionDays: number; sums: BatchTotals[] }>()

  function addRows(
    baseKey: string,
    periodEnd: number,
    retentionDays: number,
    { first, last, rows }: BatchTotals,
  ): void {
    const entry = entries.get(baseKey) ?? { end: periodEnd, retentionDays: retentionDays, sums: [] }
    entries.set(baseKey, entry)
    const previousSums = entry.sums.at(-1)
    if (previousSums?.last === last) previousSums.rows = [...previousSums.rows, ...rows]
    else entry.sums.push({ first, last, rows })
  }

  for (const { first, last, sums } of batches) {
    for (const { shard, hour, totals } of sums.hours.values())
      for (const period of ['hour', 'day'] as const satisfies Period[]) {
        const periodEnd = (Math.floor(hour / PERIOD_MS[period]) + 1) * PERIOD_MS[period]
        addRows(getTotalsKey(period, shard, hour), periodEnd, days.totals, { first, last, rows: [...totals.rows()] })
      }
    for (const [time, totals] of sums.unlisted)
      addRows(getUnlistedKey(time), time + MINUTE_MS, days.requests, { first, last, rows: [...totals.rows()] })
  }
  for (const [baseKey, { end, retentionDays: keptDays, sums }] of entries) {
    const ttlMs = Math.min(end + keptDays * DAY_MS - now, MAX_TTL_MS)
    if (ttlMs < 1) continue
    await addToTotals(options, { baseKey, instanceId, ttlMs }, sums)
    await options.nextTurn()
  }
}
