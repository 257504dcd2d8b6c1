import { hashText } from '../../lib/hash.ts'
import { getRequestTime } from '../../lib/request-id.ts'

/*
 * The storage layout of usage:
 * - `usage/journal/<instance>/<number>` is a batch of requests that an instance finished within a second. Every two minutes, the instance folds its
 * batches into the values below, then deletes them.
 * - `usage/requests/<shard>/…` contains requests. `usage/hours/<shard>/<hour>` and `usage/days/<shard>/<day>` contain totals. The hash of a request's
 * API key (or of its account, if it has no key) determines the shard, so the usage of one key is stored together.
 * - `usage/unlisted/<minute>` contains totals of requests without a record. Hours and days include them.
 * - `usage/removed` is the time before which records were removed early because the storage is limited.
 */

export const MINUTE_MS = 60 * 1_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** All shards. */
export const SHARDS: readonly string[] = [...'0123456789abcdef']

/** Returns the shard for a request: the last hex digit of the hash of its key ID, or of its account if it has no key. */
export const getShard = ({ keyId, account }: { keyId?: string; account?: string }): string =>
  SHARDS[hashText(keyId || account || '') % SHARDS.length] ?? '0'

export const JOURNAL_PREFIX = 'usage/journal/'

const NUMBER_DIGITS = 12

export const getJournalPrefix = (instanceId: string): string => `${JOURNAL_PREFIX}${instanceId}/`

export const getJournalKey = (instanceId: string, number: number): string =>
  getJournalPrefix(instanceId) + String(number).padStart(NUMBER_DIGITS, '0')

/** Parses a batch's storage key. */
export function parseJournalKey(key: string): { instanceId: string; number: number } {
  const [instanceId = '', number = ''] = key.slice(JOURNAL_PREFIX.length).split('/')
  return { instanceId, number: Number(number) }
}

/** The periods of stored totals. */
export type Period = 'hour' | 'day'

export const PERIOD_MS: Readonly<Record<Period, number>> = { hour: HOUR_MS, day: DAY_MS }

export const getTotalsPrefix = (period: Period, shard: string): string => `usage/${period}s/${shard}/`

/** Returns the storage key for a period's totals. `time` is any time in the period, in epoch ms. */
export const getTotalsKey = (period: Period, shard: string, time: number): string =>
  getTotalsPrefix(period, shard) + getPeriodNumber(period, time)

const getPeriodNumber = (period: Period, time: number) => String(Math.floor(time / PERIOD_MS[period])).padStart(8, '0')

/** Returns the cursor for listing a period and all later ones. `time` is any time in the period, in epoch ms. */
export const getPeriodCursor = (period: Period, shard: string, time: number): string =>
  `${getTotalsPrefix(period, shard)}${getPeriodNumber(period, time - PERIOD_MS[period])}~`

/** Parses the start of a period, in epoch ms, from the storage key of its totals. */
export function parsePeriodStart(period: Period, key: string): number {
  const [, , , number = ''] = key.split('/')
  return Number(number) * PERIOD_MS[period]
}

export const UNLISTED_PREFIX = 'usage/unlisted/'

/** Returns the storage key for the totals of requests without a record that arrived at `time`, in epoch ms. */
export const getUnlistedKey = (time: number): string =>
  UNLISTED_PREFIX + String(Math.floor(time / MINUTE_MS)).padStart(10, '0')

/** Parses the time, in epoch ms, from the storage key of totals for requests without a record. */
export const parseUnlistedTime = (key: string): number =>
  Number(key.slice(UNLISTED_PREFIX.length).split('/')[0]) * MINUTE_MS

/** Returns the cursor for listing totals of requests without a record, starting at `time`, in epoch ms. */
export const getUnlistedCursor = (time: number): string => `${getUnlistedKey(Math.max(0, time - 1))}~`

export const REMOVED_KEY = 'usage/removed'

/** Request keys contain reversed times, so lists start with the newest request. */
const MAX_TIME = 2 ** 48 - 1
const TIME_DIGITS = 12

const encodeReversed = (time: number) => (MAX_TIME - time).toString(16).padStart(TIME_DIGITS, '0')

export const getRequestsPrefix = (shard: string): string => `usage/requests/${shard}/`

/** The range of arrival times in a value, in epoch ms, all within the same hour. */
export interface TimeSpan {
  first: number
  last: number
}

/** Returns the storage key for a value with `count` requests. `name` must be unique within the shard. */
export const getRequestsKey = (shard: string, { first, last }: TimeSpan, count: number, name: string): string =>
  `${getRequestsPrefix(shard)}${encodeReversed(last)}-${encodeReversed(first)}-${name}-${count}`

/** Parses the number of requests from a value's key. Returns `undefined` if an earlier release wrote the value. */
export function parseRequestCount(key: string): number | undefined {
  const count = key.slice(getRequestsPrefix('0').length).split('-')[4]
  return count === undefined ? undefined : Number(count)
}

/** Parses the range of arrival times from a value's key. */
export function parseTimeSpan(key: string): TimeSpan {
  const [last = '', first = ''] = key.slice(getRequestsPrefix('0').length).split('-')
  return { last: MAX_TIME - Number.parseInt(last, 16), first: MAX_TIME - Number.parseInt(first, 16) }
}

/** Returns the cursor for listing requests that arrived before `time`, in epoch ms. The list may also contain later requests in the same hour. */
export const getRequestsCursor = (shard: string, time: number): string =>
  getRequestsPrefix(shard) + encodeReversed(Math.min(MAX_TIME, Math.ceil(time / HOUR_MS) * HOUR_MS))

/** Returns the start of a request's hour, in epoch ms. */
export const getRequestHour = (id: string): number => Math.floor(getRequestTime(id) / HOUR_MS) * HOUR_MS
