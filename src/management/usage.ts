import * as v from 'valibot'
import { gatewayError } from '../errors.ts'
import type { Clock } from '../types.ts'
import type { RequestFilter, TimeRange, UsageFilter } from '../usage/kept/query.ts'
import type { UsageReader } from '../usage/kept/reader.ts'
import { isIdOrAfter, type KeptRequest } from '../usage/kept/record.ts'
import type { KeptUsage } from '../usage/kept/usage.ts'
import { choiceOf, closed, fields, invalidInput, parseInput } from './input.ts'
import { present } from './records.ts'
import { type SummaryRow, type UsageOrder, UsageSums, type UsageTotals, usageOrders } from './usage-sums.ts'

export type { SummaryRow, UsageTotals } from './usage-sums.ts'

/** The values by which a summary can be divided into rows. */
export type UsageBy = (typeof bys)[number]

const bys = ['key', 'group', 'model', 'target', 'user', 'hour', 'day', 'month'] as const

/** A filter for requests: those that have all of these values. The empty text selects requests without a value. */
interface MeantRequests {
  /** The beginning, ISO 8601: a time with its zone, or a day in UTC such as `2027-01-31`. */
  from?: string
  /** The end, exclusive, in the form of `from`; default: now. */
  to?: string
  keyId?: string
  groupId?: string
  /** The name that clients asked for. */
  model?: string
  /** The end user that clients named. */
  user?: string
  /** A provider that was called. */
  provider?: string
  /** A provider and a model that were called, as `<provider>/<model>`. */
  target?: string
  /** A connection that was called. */
  connectionId?: string
}

/** What to sum up. `from`: default 24 hours before `to`, from the beginning of that hour. */
export interface UsageQuery extends MeantRequests {
  /** The values by which the sums are divided into rows, one or several with commas; default `key`. */
  by?: UsageBy | readonly UsageBy[] | string
  /** What comes first among rows of one time: the highest cost (the default), the most requests, or the most tokens. */
  order?: UsageOrder
  /** The most rows, 1 to 1,000; all others are summed up in a last one with `others`. Not with a time in `by`. Default: all, 50,000 at most. */
  top?: number
  /** `series` in the answer: the rows by the hour or the day, too. Not with a time in `by`. */
  series?: 'hour' | 'day'
  /** `before`: adds the sums of the period of the same length before `from`. */
  compare?: 'before'
  /** Adds `names` to the answer: the names of the keys and groups in the rows and in the query. */
  names?: boolean
}

/** Which requests to list. `from`: default all that are kept. */
export interface RequestsQuery extends MeantRequests {
  /** The HTTP status that the client got. */
  status?: number
  end?: KeptRequest['end']
  /** The code of the gateway's error, such as `KEY_PAUSED`. */
  error?: string
  /** The path of the endpoint, such as `/v1/messages`. */
  endpoint?: string
  /** The most requests of a page, 1 to 1,000; default 100. */
  limit?: number
  /** The `before` of the page before. */
  before?: string
}

/** The sums of each row, and the sums of all selected requests. */
export interface UsageSummary {
  /** The beginning of the summed period, ISO 8601. */
  from: string
  /** Up to this time. */
  to: string
  /** By time, then those that cost the most first. */
  rows: SummaryRow[]
  totals: UsageTotals
  /** The first ten rows by the time that `series` names, and all others summed up with `others`. By time, times without requests left out. */
  series?: SummaryRow[]
  /** The time of the same length before `from`, as far as sums of it are kept; absent where none are. */
  before?: { from: string; to: string; totals: UsageTotals }
  /** The names of keys and groups by their ids. */
  names?: Record<string, string>
  /** Sentences on what is less precise than the query asked for. */
  warnings?: string[]
}

/**
 * The usage of the gateway. `Input` is accepted besides the typed input, as in all operations. All reject with `USAGE_NOT_KEPT` where nothing is
 * kept.
 */
export interface UsageOperations<Input = never> {
  /** Sums of requests, tokens and costs. */
  summary(query?: UsageQuery | Input): Promise<UsageSummary>
  /** A page of requests, the newest first; `before` of the next page, if there is one. A page may have fewer than `limit` all the same. */
  requests(query?: RequestsQuery | Input): Promise<{ requests: KeptRequest[]; before?: string }>
  /** One request, by the id in its header `x-signalbox-request-id`. Rejects with `NOT_FOUND` when it is not kept. */
  request(id: string): Promise<{ request: KeptRequest }>
}

const TIME = 'must be a time in ISO 8601 with its zone, such as "2027-01-31T09:00:00Z", or a day such as "2027-01-31"'

const time = v.pipe(
  v.string(TIME),
  v.check((text) => timeIn(text) !== undefined, TIME),
)
const text = v.exactOptional(v.pipe(fields.text, v.maxLength(1_000, 'must not be longer than 1000 characters')))

const meant = {
  from: v.exactOptional(time),
  to: v.exactOptional(time),
  keyId: text,
  groupId: text,
  model: text,
  user: text,
  provider: text,
  target: v.exactOptional(
    v.pipe(
      fields.text,
      v.check((name) => name.includes('/'), 'must be "<provider>/<model>"'),
    ),
  ),
  connectionId: text,
}

const BY = `must be one or several of ${bys.join(', ')}, with commas between them`
const oneBy = v.picklist(bys, BY)
const isByList = (text: string) => text.split(',').every((one) => v.is(oneBy, one))

const count = (most: number) => {
  const says = `must be a whole number from 1 to ${most}`
  return v.pipe(v.number(says), v.integer(says), v.minValue(1, says), v.maxValue(most, says))
}

export const usageInputs = {
  summary: closed({
    ...meant,
    by: v.exactOptional(
      v.union([v.pipe(v.string(), v.check(isByList, BY)), v.pipe(v.array(oneBy, BY), v.minLength(1, BY))], BY),
    ),
    order: v.exactOptional(choiceOf(usageOrders)),
    top: v.exactOptional(count(1_000)),
    series: v.exactOptional(choiceOf(['hour', 'day'])),
    compare: v.exactOptional(choiceOf(['before'])),
    names: v.exactOptional(v.boolean('must be true or false')),
  }),
  requests: closed({
    ...meant,
    status: v.exactOptional(count(599)),
    end: v.exactOptional(choiceOf(['complete', 'aborted', 'cut', 'failed', 'refused'])),
    error: text,
    endpoint: text,
    limit: v.exactOptional(count(1_000)),
    before: v.exactOptional(v.pipe(fields.text, v.check(isIdOrAfter, 'must be the "before" of a page'))),
  }),
}

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
/** Sums by the hour are told apart for so long at most. */
const MOST_HOURS_MS = 32 * DAY_MS
const PAGE = 100

const LESS_PRECISE =
  'There were so many rows in some hours or days that they are summed up without end users, or without connections and models.'

/** So many rows of a series are told apart. */
const MOST_PARTS = 10

const TIMES = ['hour', 'day', 'month'] as const

/** `store`: has the names of keys and groups. */
export function createUsageOperations({
  usage,
  clock,
  store,
}: {
  usage: KeptUsage | undefined
  clock: Clock
  store: NameStore
}): UsageOperations<unknown> {
  const reader = async (): Promise<UsageReader> => {
    if (!usage) throw gatewayError('USAGE_NOT_KEPT', { message: NOT_KEPT })
    return usage.reader()
  }

  return {
    async summary(query = {}) {
      const { from, to, by = 'key', ...others } = parseInput(usageInputs.summary, query)
      const { order = 'cost', top, series, compare, names, ...given } = others
      const wanted = new Set(typeof by === 'string' ? (by.split(',') as UsageBy[]) : by) // the schema has checked them
      const end = to === undefined ? Number.POSITIVE_INFINITY : timeOf(to)
      const beginning = from === undefined ? dayBefore(Math.min(end, clock.now())) : timeOf(from)
      checkOrder(beginning, end)
      const last = Math.min(end, clock.now())
      if ((wanted.has('hour') || series === 'hour') && last - beginning > MOST_HOURS_MS)
        throw invalidInput(
          `"from" must be at most 32 days before "to" where ${series ? '"series" is' : '"by" has'} "hour"; ask by the day`,
        )
      if ((top !== undefined || series) && TIMES.some((time) => wanted.has(time)))
        throw invalidInput(`"by" must have no hour, day or month where "${series ? 'series' : 'top'}" is given`)
      const filter = filterOf(given)
      const usageReader = await reader()
      const sums = new UsageSums({ by: wanted, order, top })
      const time = { from: beginning, to: end }
      const unit = wanted.has('hour') ? 'hour' : 'day'
      const range = await usageReader.sums(filter, { ...time, unit }, (row, at) => sums.add(row, at))
      const rows = sums.rows()
      const summary: UsageSummary = { ...shownRange(range), rows, totals: sums.totals() }
      if (series) {
        const parts = new UsageSums({ by: new Set([...wanted, series]), order, apart: sums.first(MOST_PARTS) })
        await usageReader.sums(filter, { ...time, unit: series }, (row, at) => parts.add(row, at))
        summary.series = parts.rows()
      }
      if (compare) {
        const former = new UsageSums({ by: new Set(), order })
        const formerTime = { from: range.from - (last - range.from), to: range.from, unit: 'day' } as const
        const found = await usageReader.sums(filter, formerTime, (row, at) => former.add(row, at))
        if (found.from < found.to) summary.before = { ...shownRange(found), totals: former.totals() }
      }
      if (names) summary.names = await namesIn([given, ...rows], store)
      if (range.isLessPrecise) summary.warnings = [LESS_PRECISE]
      return summary
    },

    async requests(query = {}) {
      const { from, to, limit = PAGE, before, ...given } = parseInput(usageInputs.requests, query)
      const { status, end: ended, error, endpoint, ...others } = given
      const end = to === undefined ? Number.POSITIVE_INFINITY : timeOf(to)
      const beginning = from === undefined ? Number.NEGATIVE_INFINITY : timeOf(from)
      checkOrder(beginning, end)
      const filter: RequestFilter = filterOf(others)
      if (status !== undefined) filter.status = status
      if (ended !== undefined) filter.end = ended
      if (error !== undefined) filter.error = error
      if (endpoint !== undefined) filter.endpoint = endpoint
      return (await reader()).requests(filter, { from: beginning, to: end, before, limit })
    },

    async request(id) {
      const found = isIdOrAfter(id) ? await (await reader()).request(id) : undefined
      return { request: present(found, 'Request') }
    },
  }
}

const shownRange = ({ from, to }: TimeRange) => ({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })

/** Records of which a name is shown. */
interface NameStore {
  keys: { all(): Promise<ReadonlyArray<{ id: string; name: string }>> }
  groups: { all(): Promise<ReadonlyArray<{ id: string; name: string }>> }
}

/** The names of keys and groups by id, of those that are not deleted. */
async function namesIn(
  rows: ReadonlyArray<Pick<SummaryRow, 'keyId' | 'groupId'>>,
  { keys, groups }: NameStore,
): Promise<Record<string, string>> {
  const ids = new Set(rows.flatMap(({ keyId = '', groupId = '' }) => [keyId, groupId]))
  const shown: Record<string, string> = {}
  for (const records of await Promise.all([keys.all(), groups.all()]))
    for (const { id, name } of records) if (ids.has(id)) shown[id] = name
  return shown
}

const NOT_KEPT =
  'This gateway keeps no usage: its storage does not carry the writes, or the option "usage" of createGateway is false. Set it to true to keep it.'

/** The time in a text, epoch ms; `undefined` when there is none. */
function timeIn(text: string): number | undefined {
  const isTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?$/i.test(text)
  const found = isTime ? Date.parse(text) : Number.NaN
  return Number.isNaN(found) ? undefined : found
}

const timeOf = (text: string): number => timeIn(text) ?? Number.NaN // the schema has checked it

const dayBefore = (end: number) => Math.floor((end - DAY_MS) / HOUR_MS) * HOUR_MS

function checkOrder(from: number, to: number): void {
  if (from >= to) throw invalidInput('"to" must be after "from"')
}

function filterOf({ target, ...given }: UsageFilter & { target?: string }): UsageFilter {
  if (target === undefined) return given
  const slash = target.indexOf('/')
  return { ...given, provider: target.slice(0, slash), targetModel: target.slice(slash + 1) }
}
