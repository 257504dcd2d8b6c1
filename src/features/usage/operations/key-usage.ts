import * as v from 'valibot'
import { alternatives, closedObject, parseInput } from '../../../admin/input.ts'
import { fromNanoUsd } from '../../../lib/usd.ts'
import type { LimitState } from '../../../types/limits.ts'
import type { Integer, IsoTime } from '../../../types/plain-types.ts'
import type { ApiKey } from '../../../types/records/key-fields.ts'
import type { Clock } from '../../../types.ts'
import type { TimeRange } from '../query.ts'
import type { UsageReader } from '../reader.ts'
import type { UsageStore } from '../usage.ts'

/** The IDs of the keys to look up, 1 to 100, as an array or a comma-separated string. */
export interface KeyUsageQuery {
  ids: readonly string[] | string
}

/** One key's usage. */
export interface KeyUsage {
  id: string
  /** All limits that apply to the key, as in `keys.limits.get`. */
  limits: LimitState[]
  /** Requests this month, including rejected ones. This field and the ones below are absent if the gateway doesn't store usage. */
  requests?: Integer
  /** The cost of those requests in US dollars. */
  costUsd?: number
  /** The number of calls with an unknown price, which `costUsd` doesn't include. */
  unpriced?: Integer
  /** When the key was last used, if that was this month or in the last 30 days. */
  lastUsedAt?: IsoTime
}

const IDS_MESSAGE = 'must be 1 to 100 key IDs'
const parseIds = (ids: string[] | string): string[] => (typeof ids === 'string' ? ids.split(',').filter(Boolean) : ids)

const idSchema = v.string(IDS_MESSAGE)
const idArraySchema = v.array(idSchema, IDS_MESSAGE)

export const keyUsageInput = closedObject({
  ids: v.pipe(
    alternatives([idSchema, idArraySchema], (input) => (Array.isArray(input) ? idArraySchema : idSchema)),
    v.check<string[] | string, string>((ids) => parseIds(ids).length >= 1 && parseIds(ids).length <= 100, IDS_MESSAGE),
  ),
})

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** How far back to look for a key's latest request, in ms. */
const LOOKBACK_MS = 30 * DAY_MS

interface KeyUsageDependencies {
  usage: UsageStore | undefined
  clock: Clock
  store: { keys: { all(): Promise<ReadonlyArray<Pick<ApiKey, 'id'>>> } }
  getLimits(id: string): Promise<{ limits: LimitState[] }>
}

/** Creates the operation that returns what keys spent this month (UTC), how much of their limits is used, and when they were last used. */
export function createKeyUsageReader({ usage, clock, store, getLimits }: KeyUsageDependencies) {
  return async (query: unknown): Promise<{ from: string; keys: KeyUsage[] }> => {
    const queriedIds = new Set(parseIds(parseInput(keyUsageInput, query).ids))
    const ids = (await store.keys.all()).flatMap(({ id }) => (queriedIds.has(id) ? id : []))
    const now = clock.now()
    const monthStart = Date.parse(`${new Date(now).toISOString().slice(0, 7)}-01`)
    const monthlyUsage = usage && (await sumMonthlyUsage(new Set(ids), await usage.getReader(), { now, monthStart }))
    const keys = ids.map(async (id) => ({ id, ...(await getLimits(id)), ...monthlyUsage?.get(id) }))
    return { from: new Date(monthStart).toISOString(), keys: await Promise.all(keys) }
  }
}

type MonthlyUsage = Omit<KeyUsage, 'id' | 'limits'>

async function sumMonthlyUsage(
  ids: ReadonlySet<string>,
  reader: Pick<UsageReader, 'sumUsage' | 'findLatestTimes'>,
  { now, monthStart }: { now: number; monthStart: number },
): Promise<ReadonlyMap<string, MonthlyUsage>> {
  const sums = new Map(Array.from(ids, (id) => [id, { requests: 0, nano: 0, unpriced: 0 }]))
  const latestRanges = new Map<string, TimeRange>()
  const from = Math.floor(Math.min(monthStart, now - LOOKBACK_MS) / DAY_MS) * DAY_MS
  const todayStart = Math.floor(now / DAY_MS) * DAY_MS
  await reader.sumUsage(
    {},
    { from, to: Number.POSITIVE_INFINITY, unit: 'day' },
    ({ dimensions, sums: rowTotals }, startMs) => {
      const sum = sums.get(dimensions.keyId)
      if (!sum) return
      if (rowTotals.requests > 0 && startMs >= (latestRanges.get(dimensions.keyId)?.from ?? 0))
        latestRanges.set(dimensions.keyId, { from: startMs, to: startMs + (startMs < todayStart ? DAY_MS : HOUR_MS) })
      if (startMs < monthStart) return
      sum.requests += rowTotals.requests
      sum.nano += rowTotals.nano
      sum.unpriced += rowTotals.unpriced
    },
  )
  const times = await reader.findLatestTimes(latestRanges)
  return new Map(
    Array.from(sums, ([id, { nano, ...counts }]) => {
      const lastUsedAt = times.get(id) ?? latestRanges.get(id)?.from // the key's request records may already have been removed
      return [
        id,
        {
          ...counts,
          costUsd: fromNanoUsd(nano),
          ...(lastUsedAt !== undefined && { lastUsedAt: new Date(lastUsedAt).toISOString() }),
        },
      ]
    }),
  )
}
