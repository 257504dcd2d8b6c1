import { hashOf } from '../../lib/hash.ts'
import { timeOfId } from './record.ts'

/*
 * Where usage lies in the storage. `usage/journal/<instance>/<number>` is a batch as an instance has written it, with the requests of a second. Every
 * two minutes the instance folds its batches into the rest, and deletes them: into `usage/requests/<shard>/…`, the requests, and into
 * `usage/hours/<shard>/<hour>` and `usage/days/<shard>/<day>`, their sums. A shard holds the keys with one hash, so that what one key has used
 * lies together.
 */

export const HOUR_MS = 60 * 60 * 1_000
export const DAY_MS = 24 * HOUR_MS

/** The shards: the last hexadecimal digit of the hash of a key's id. */
export const SHARDS: readonly string[] = [...'0123456789abcdef']

export const shardOf = (keyId = ''): string => SHARDS[hashOf(keyId) % SHARDS.length] ?? '0'

export const JOURNAL = 'usage/journal/'

const NUMBER_DIGITS = 12

export const journalOf = (instance: string): string => `${JOURNAL}${instance}/`

export const journalKey = (instance: string, number: number): string =>
  journalOf(instance) + String(number).padStart(NUMBER_DIGITS, '0')

/** The instance and the number of a batch, by its storage key. */
export function batchOf(key: string): { instance: string; number: number } {
  const [instance = '', number = ''] = key.slice(JOURNAL.length).split('/')
  return { instance, number: Number(number) }
}

/** The periods that sums are kept for. */
export type Period = 'hour' | 'day'

export const PERIOD_MS: Readonly<Record<Period, number>> = { hour: HOUR_MS, day: DAY_MS }

export const totalsOf = (period: Period, shard: string): string => `usage/${period}s/${shard}/`

/** `at`: any time in the period, epoch ms. */
export const totalsKey = (period: Period, shard: string, at: number): string =>
  totalsOf(period, shard) + periodNumber(period, at)

const periodNumber = (period: Period, at: number) => String(Math.floor(at / PERIOD_MS[period])).padStart(8, '0')

/** The last text before the keys of a period and all later ones. */
export const beforePeriod = (period: Period, shard: string, at: number): string =>
  `${totalsOf(period, shard)}${periodNumber(period, at - PERIOD_MS[period])}~`

/** When the period of totals begins, by their storage key; epoch ms. */
export function periodStart(period: Period, key: string): number {
  const [, , , number = ''] = key.split('/')
  return Number(number) * PERIOD_MS[period]
}

/** Times in the keys of requests count backwards, so that a list begins with the newest. */
const LAST_TIME = 2 ** 48 - 1
const TIME_DIGITS = 12

const backwards = (time: number) => (LAST_TIME - time).toString(16).padStart(TIME_DIGITS, '0')

export const requestsOf = (shard: string): string => `usage/requests/${shard}/`

/** The times of the requests in a value, epoch ms; they came in the same hour. */
export interface TimeSpan {
  first: number
  last: number
}

/** The key for requests; `name`: no other value of the shard has it. */
export const requestsKey = (shard: string, { first, last }: TimeSpan, name: string): string =>
  `${requestsOf(shard)}${backwards(last)}-${backwards(first)}-${name}`

export function spanOf(key: string): TimeSpan {
  const [last = '', first = ''] = key.slice(requestsOf('0').length).split('-')
  return { last: LAST_TIME - Number.parseInt(last, 16), first: LAST_TIME - Number.parseInt(first, 16) }
}

/** The last text before the keys of all requests that came before `time`, and of others of that hour. */
export const beforeRequests = (shard: string, time: number): string =>
  requestsOf(shard) + backwards(Math.min(LAST_TIME, Math.ceil(time / HOUR_MS) * HOUR_MS))

export const hourOf = (id: string): number => Math.floor(timeOfId(id) / HOUR_MS) * HOUR_MS
