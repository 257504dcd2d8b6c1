import * as v from 'valibot'
import {
  closedObject,
  createChoiceListSchema,
  createChoiceSchema,
  createInputError,
  createIntegerSchema,
  fields,
  parseInput,
} from '../../../admin/input.ts'
import { requirePresent } from '../../../admin/record-operations.ts'
import type { WithWarnings } from '../../../admin/warnings.ts'
import { gatewayError } from '../../../errors.ts'
import { isRequestIdOrPrefix } from '../../../lib/request-id.ts'
import type { AccountNames } from '../../../records/account-records.ts'
import type { Integer, IsoTime } from '../../../types/plain-types.ts'
import type { Clock } from '../../../types.ts'
import type { RequestFilter, TimeRange, UsageFilter } from '../query.ts'
import type { UsageReader } from '../reader.ts'
import type { StoredRequest } from '../request-record.ts'
import type { UsageStore } from '../usage.ts'
import { type KeyUsage, type KeyUsageQuery, keyUsageInput } from './key-usage.ts'
import { isSortedCursor, listSortedRequests, type RequestSort, requestSorts, sortOrders } from './sorted-requests.ts'
import { type SummaryRow, UsageAggregator, type UsageOrder, type UsageTotals, usageOrders } from './usage-aggregator.ts'

export type { SummaryRow, UsageTotals } from './usage-aggregator.ts'

/** A dimension to group a summary by. */
export type UsageBy = (typeof dimensions)[number]

const dimensions = ['key', 'group', 'account', 'model', 'target', 'user', 'hour', 'day', 'month'] as const

/** A filter for requests. All fields must match. An empty string matches requests without that value. */
interface FilterQuery {
  /** Start time, ISO 8601: a time with its time zone, or a day in UTC such as `2027-01-31`. */
  from?: string
  /** End time (exclusive), in the same format as `from`. Default: now. */
  to?: string
  keyId?: string
  groupId?: string
  /** An account of your app's users, by ID or ref. */
  account?: string
  /** The model name in the request. */
  model?: string
  /** The end user that the client specified. Totals contain it only for requests without an account. */
  user?: string
  /** A provider that was called. */
  provider?: string
  /** A provider and model that were called, as `<provider>/<model>`. */
  target?: string
  /** A connection that was called. */
  connectionId?: string
}

/** The requests to aggregate. `from` defaults to 24 hours before `to`, rounded down to the hour. */
export interface UsageQuery extends FilterQuery {
  /** The dimensions of the rows, as an array or a comma-separated string. Default: `key`. */
  by?: UsageBy | readonly UsageBy[] | string
  /** How to sort rows with the same time: highest cost (default), most requests, or most tokens first. */
  order?: UsageOrder
  /**
   * Maximum number of rows, 1 to 1,000. All others are summed in one extra row with `others`. Can't be combined with a time dimension in `by`.
   * Default: all, up to 50,000.
   */
  top?: number
  /** Adds `series` to the response: the rows broken down by hour or day. Can't be combined with a time dimension in `by`. */
  series?: 'hour' | 'day'
  /** `before`: adds the totals for the preceding period of the same length. */
  compare?: 'before'
  /** Adds `names` to the response: the names of the keys, groups, and accounts in the rows and in the query. */
  names?: boolean
}

/** The requests to list. `from` defaults to the oldest record. */
export interface RequestsQuery extends FilterQuery {
  /** The HTTP status that the client received. */
  status?: number
  end?: StoredRequest['end']
  /** The gateway's error code, such as `KEY_PAUSED`. */
  error?: string
  /** The endpoint's path, such as `/v1/messages`. */
  endpoint?: string
  /** Sorts all matching requests, not only those on the page. Default: `time`. Requests with an unknown cost come last. */
  sort?: RequestSort
  /** `desc` (the default) puts the newest, slowest, or most expensive first. */
  order?: (typeof sortOrders)[number]
  /** Maximum requests per page, 1 to 1,000. Default: 100. */
  limit?: number
  /** The `before` of the previous page, which must have the same `sort` and `order`. */
  before?: string
}

/** Totals for all matching requests and for each row. */
export interface UsageSummary {
  /** Start of the period, ISO 8601. */
  from: IsoTime
  /** End of the period (exclusive). */
  to: IsoTime
  /** Ordered by time, then by `order`. */
  rows: SummaryRow[]
  totals: UsageTotals
  /** The first ten rows by hour or day, with all others summed in a row with `others`. Sorted by time. Omits periods without requests. */
  series?: SummaryRow[]
  /** The preceding period of the same length, as far as its totals are still stored. Absent if none are. */
  before?: { from: IsoTime; to: IsoTime; totals: UsageTotals }
  /** Names of keys and groups by ID, and of up to 1,000 accounts by ref. An account without a name has its ID here. */
  names?: Record<string, string>
  /** Warnings about results that are less precise than requested and, if nothing was found, about filters for things that don't exist. */
  warnings?: string[]
}

/**
 * The gateway's usage. Like all operations, these accept `Input` as well as the typed input. They reject with `USAGE_NOT_KEPT` if the gateway doesn't
 * store usage.
 */
export interface UsageOperations<Input = never> {
  /** Returns totals of requests, tokens, and costs. */
  summary(query?: UsageQuery | Input): Promise<UsageSummary>
  /**
   * Returns a page of requests (newest first unless `sort` is set) and the `before` of the next page, if any. A page may have fewer than `limit`
   * requests even if more follow. `missing` is the number of requests in the time range that are in the totals but have no record. Absent if 0.
   */
  requests(
    query?: RequestsQuery | Input,
  ): Promise<{ requests: StoredRequest[]; before?: string; missing?: Integer } & WithWarnings>
  /** Returns the request with this ID, as in the `x-signalbox-request-id` header. Rejects with `NOT_FOUND` if the request has no record. */
  request(id: string): Promise<{ request: StoredRequest }>
  /** Returns what keys spent this month (from `from`, in UTC), how much of their limits is used, and when they were last used. */
  keys(query: KeyUsageQuery | Input): Promise<{ from: IsoTime; keys: KeyUsage[] }>
}

const TIME_MESSAGE =
  'must be an ISO 8601 time with a time zone, such as "2027-01-31T09:00:00Z", or a day such as "2027-01-31"'

const timeSchema = v.pipe(
  v.string(TIME_MESSAGE),
  v.check((text) => parseTime(text) !== undefined, TIME_MESSAGE),
)
const textSchema = v.exactOptional(fields.filter)

const filterFields = {
  from: v.exactOptional(timeSchema),
  to: v.exactOptional(timeSchema),
  keyId: textSchema,
  groupId: textSchema,
  account: textSchema,
  model: textSchema,
  user: textSchema,
  provider: textSchema,
  target: v.exactOptional(
    v.pipe(
      fields.text,
      v.check((name) => name.includes('/'), 'must be "<provider>/<model>"'),
    ),
  ),
  connectionId: textSchema,
}

const BY_MESSAGE = `must be a comma-separated list of ${dimensions.join(', ')}`

const isCursor = (text: string) => isRequestIdOrPrefix(text) || isSortedCursor(text)

export const usageInputs = {
  summary: closedObject({
    ...filterFields,
    by: v.exactOptional(createChoiceListSchema(dimensions, BY_MESSAGE)),
    order: v.exactOptional(createChoiceSchema(usageOrders)),
    top: v.exactOptional(fields.pageSize),
    series: v.exactOptional(createChoiceSchema(['hour', 'day'])),
    compare: v.exactOptional(createChoiceSchema(['before'])),
    names: v.exactOptional(fields.flag),
  }),
  requests: closedObject({
    ...filterFields,
    status: v.exactOptional(createIntegerSchema(1, 599)),
    end: v.exactOptional(createChoiceSchema(['complete', 'aborted', 'cut', 'failed', 'refused'])),
    error: textSchema,
    endpoint: textSchema,
    limit: v.exactOptional(fields.pageSize),
    sort: v.exactOptional(createChoiceSchema(requestSorts)),
    order: v.exactOptional(createChoiceSchema(sortOrders)),
    before: v.exactOptional(v.pipe(fields.text, v.check(isCursor, 'must be the "before" value of a previous page'))),
  }),
  keys: keyUsageInput,
}

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
/** The longest time range for which hourly rows are available, in ms. */
const MAX_HOURS_MS = 32 * DAY_MS
const PAGE_SIZE = 100

const LESS_PRECISE_WARNING =
  'Some hours or days had too many rows, so some of their totals are not broken down by account, end user, connection, or model.'

/** Maximum number of rows in a series; all others are summed. */
const MAX_SERIES_ROWS = 10

const TIME_DIMENSIONS = ['hour', 'day', 'month'] as const

/** Creates the operations on stored usage. `store` contains the names of keys and groups. */
export function createUsageOperations({
  usage,
  clock,
  store,
  accounts,
  nextTurn = async () => {},
}: {
  usage: UsageStore | undefined
  clock: Clock
  store: NameStore
  accounts: AccountNames
  /** Lets pending requests run during a long operation. */
  nextTurn?: () => Promise<void>
}): Omit<UsageOperations<unknown>, 'keys'> {
  const openReader = async (): Promise<UsageReader> => {
    if (!usage) throw gatewayError('USAGE_NOT_KEPT', { message: NOT_STORED_MESSAGE })
    return usage.getReader()
  }

  return {
    async summary(query = {}) {
      const { from, to, by = 'key', ...others } = parseInput(usageInputs.summary, query)
      const { order = 'cost', top, series, compare, names, ...filterFields } = others
      const groupBy = new Set(typeof by === 'string' ? (by.split(',') as UsageBy[]) : by) // the schema has validated the dimensions
      const end = to === undefined ? Number.POSITIVE_INFINITY : parseValidTime(to)
      const start = from === undefined ? getDefaultStart(Math.min(end, clock.now())) : parseValidTime(from)
      checkTimeOrder(start, end)
      const effectiveEnd = Math.min(end, clock.now())
      if ((groupBy.has('hour') || series === 'hour') && effectiveEnd - start > MAX_HOURS_MS)
        throw createInputError(
          `"from" must be at most 32 days before "to" when ${series ? '"series" is' : '"by" contains'} "hour"; use "day" instead`,
        )
      if ((top !== undefined || series) && TIME_DIMENSIONS.some((time) => groupBy.has(time)))
        throw createInputError(`"by" must not contain hour, day, or month when "${series ? 'series' : 'top'}" is given`)
      const filter = await toFilter(filterFields, accounts)
      const usageReader = await openReader()
      const aggregator = new UsageAggregator({ by: groupBy, order, top })
      const timeRange = { from: start, to: end }
      const unit = groupBy.has('hour') ? 'hour' : 'day'
      const range = await usageReader.sumUsage(filter, { ...timeRange, unit }, (row, startMs) =>
        aggregator.add(row, startMs),
      )
      const rows = aggregator.getRows()
      const summary: UsageSummary = { ...formatRange(range), rows, totals: aggregator.getTotals() }
      if (series) {
        const seriesAggregator = new UsageAggregator({
          by: new Set([...groupBy, series]),
          order,
          seriesRows: aggregator.getFirstRows(MAX_SERIES_ROWS),
        })
        await usageReader.sumUsage(filter, { ...timeRange, unit: series }, (row, startMs) =>
          seriesAggregator.add(row, startMs),
        )
        summary.series = seriesAggregator.getRows()
      }
      if (compare) {
        const previousAggregator = new UsageAggregator({ by: new Set(), order })
        const previousRange = { from: range.from - (effectiveEnd - range.from), to: range.from, unit: 'day' } as const
        const coveredRange = await usageReader.sumUsage(filter, previousRange, (row, startMs) =>
          previousAggregator.add(row, startMs),
        )
        if (coveredRange.from < coveredRange.to)
          summary.before = { ...formatRange(coveredRange), totals: previousAggregator.getTotals() }
      }
      if (names) summary.names = await readNames([{ ...filterFields, ...filter }, ...rows], { ...store, accounts })
      if (range.isApproximate) summary.warnings = [LESS_PRECISE_WARNING]
      return summary
    },

    async requests(query = {}) {
      const {
        from,
        to,
        limit = PAGE_SIZE,
        before,
        sort = 'time',
        order = 'desc',
        ...filterFields
      } = parseInput(usageInputs.requests, query)
      const { status, end: endFilter, error, endpoint, ...otherFilters } = filterFields
      const end = to === undefined ? Number.POSITIVE_INFINITY : parseValidTime(to)
      const start = from === undefined ? Number.NEGATIVE_INFINITY : parseValidTime(from)
      checkTimeOrder(start, end)
      const filter: RequestFilter = await toFilter(otherFilters, accounts)
      if (status !== undefined) filter.status = status
      if (endFilter !== undefined) filter.end = endFilter
      if (error !== undefined) filter.error = error
      if (endpoint !== undefined) filter.endpoint = endpoint
      const pageRange = { from: start, to: end, before, limit, countsMissing: true }
      const isSorted = sort !== 'time' || order !== 'desc'
      if (isSorted) return listSortedRequests(await openReader(), filter, { ...pageRange, sort, order, nextTurn })
      if (before !== undefined && !isRequestIdOrPrefix(before))
        throw createInputError('"before" comes from a page with a different "sort" or "order"')
      return (await openReader()).listRequests(filter, pageRange)
    },

    async request(id) {
      const request = isRequestIdOrPrefix(id) ? await (await openReader()).findRequest(id) : undefined
      return { request: requirePresent(request, 'Request') }
    },
  }
}

const formatRange = ({ from, to }: TimeRange) => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})

/** The records whose names are included in responses. */
interface NameStore {
  keys: { all(): Promise<ReadonlyArray<{ id: string; name: string }>> }
  groups: { all(): Promise<ReadonlyArray<{ id: string; name: string }>> }
}

/** Returns the names of keys and groups that still exist, by ID, and of the first 1,000 accounts, by ref. */
async function readNames(
  rows: ReadonlyArray<Pick<SummaryRow, 'keyId' | 'groupId' | 'account'>>,
  { keys, groups, accounts }: NameStore & { accounts: AccountNames },
): Promise<Record<string, string>> {
  const ids = new Set(rows.flatMap(({ keyId = '', groupId = '' }) => [keyId, groupId]))
  const accountRefs = new Set(rows.flatMap(({ account }) => account || []))
  const names = Object.fromEntries(
    accountRefs.size > 0 ? await accounts.findNames([...accountRefs].slice(0, MAX_NAMES)) : [],
  )
  for (const records of await Promise.all([keys.all(), groups.all()]))
    for (const { id, name } of records) if (ids.has(id)) names[id] = name
  return names
}

/** Maximum number of accounts to read names for. */
const MAX_NAMES = 1_000

const NOT_STORED_MESSAGE =
  'This gateway does not record usage, because its storage can\'t handle the write volume or the option "usage" of createGateway is false. To record it, set "usage" to true.'

function parseTime(text: string): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/i.test(text)
  const parsedTime = isTime ? Date.parse(text) : Number.NaN
  return Number.isNaN(parsedTime) ? undefined : parsedTime
}

const parseValidTime = (text: string): number => parseTime(text) ?? Number.NaN // the schema has validated the time

const getDefaultStart = (end: number) => Math.floor((end - DAY_MS) / HOUR_MS) * HOUR_MS

function checkTimeOrder(from: number, to: number): void {
  if (from >= to) throw createInputError('"to" must be after "from"')
}

async function toFilter(
  { target, account, ...filterFields }: UsageFilter & { target?: string },
  accounts: AccountNames,
): Promise<UsageFilter> {
  const filter: UsageFilter = filterFields
  if (account !== undefined) filter.account = account && (await accounts.findRef(account))
  if (target === undefined) return filter
  const slashIndex = target.indexOf('/')
  return { ...filter, provider: target.slice(0, slashIndex), targetModel: target.slice(slashIndex + 1) }
}
