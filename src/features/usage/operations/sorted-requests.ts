import { createInputError } from '../../../admin/input.ts'
import { isRequestIdOrPrefix } from '../../../lib/request-id.ts'
import { toNanoUsd } from '../../../lib/usd.ts'
import type { RequestFilter, TimeRange } from '../query.ts'
import type { RequestPage, UsageReader } from '../reader.ts'
import type { StoredRequest } from '../request-record.ts'

/** How to sort requests. */
export type RequestSort = (typeof requestSorts)[number]

/** Allowed values of `sort`. */
export const requestSorts = ['time', 'duration', 'cost'] as const
/** Allowed values of `order`. */
export const sortOrders = ['desc', 'asc'] as const

interface Sorting {
  sort: RequestSort
  order: (typeof sortOrders)[number]
}

/** A request's ID and sort value. The value is absent if unknown, such as an unknown cost. */
interface SortPosition {
  id: string
  value: number | undefined
}

/** The number of requests read at a time. */
const BATCH_SIZE = 5_000
/** Maximum number of matching requests to sort. */
const MAX_SORTED_REQUESTS = 1_000_000

/**
 * Returns a page of matching requests in the order of `sorting`. Requests without a value come last in both orders; ties are sorted by time. Reads
 * all matching requests for each page, but keeps only the page's requests in memory. Throws `INVALID_REQUEST` if more than a million requests match.
 */
export async function listSortedRequests(
  reader: UsageReader,
  filter: RequestFilter,
  {
    from,
    to,
    before,
    limit,
    nextTurn,
    ...sorting
  }: TimeRange & Sorting & { before: string | undefined; limit: number; nextTurn(): Promise<void> },
): Promise<RequestPage> {
  const compare = createComparison(sorting)
  const cursorPosition = before === undefined ? undefined : parseCursor(before)
  let page: Array<{ position: SortPosition; request: StoredRequest }> = []
  let requestCount = 0
  let missing: number | undefined
  for (let nextCursor: string | undefined; ; ) {
    const batch = await reader.listRequests(filter, {
      from,
      to,
      before: nextCursor,
      limit: BATCH_SIZE,
      countsMissing: nextCursor === undefined,
    })
    missing ??= batch.missing
    requestCount += batch.requests.length
    if (requestCount > MAX_SORTED_REQUESTS)
      throw createInputError(
        `More than ${MAX_SORTED_REQUESTS} requests match, too many to sort. Narrow the range with "from" and "to", or add a filter`,
      )
    for (const request of batch.requests) {
      const position = { id: request.id, value: getSortValue(request, sorting.sort) }
      if (!cursorPosition || compare(position, cursorPosition) > 0) page.push({ position, request })
    }
    page = page.sort((a, b) => compare(a.position, b.position)).slice(0, limit + 1)
    if (batch.before === undefined) break
    nextCursor = batch.before
    await nextTurn()
  }
  const pageEntries = page.slice(0, limit)
  const lastEntry = page.length > limit ? pageEntries.at(-1) : undefined
  return {
    requests: pageEntries.map(({ request }) => request),
    ...(lastEntry && { before: formatCursor(lastEntry.position) }),
    ...(missing && { missing }),
  }
}

/** Returns a rounded value, because stored requests have rounded values, unlike those in memory. */
function getSortValue({ durationMs, costUsd }: StoredRequest, sort: RequestSort): number | undefined {
  if (sort === 'time') return 0
  if (sort === 'duration') return Math.round(durationMs)
  return costUsd === undefined ? undefined : toNanoUsd(costUsd)
}

function createComparison({ sort, order }: Sorting) {
  const direction = order === 'asc' ? 1 : -1
  const compareByTime = (a: SortPosition, b: SortPosition) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  return (a: SortPosition, b: SortPosition): number => {
    if (a.value === undefined || b.value === undefined) {
      const missingOrder = Number(a.value === undefined) - Number(b.value === undefined)
      return missingOrder || -compareByTime(a, b)
    }
    return (a.value - b.value) * direction || compareByTime(a, b) * (sort === 'time' ? direction : -1)
  }
}

const formatCursor = ({ id, value }: SortPosition) => `${value ?? ''}~${id}`

const CURSOR_PATTERN = /^(\d{0,20})~(.+)$/

/** Returns whether a string is a cursor for a sorted page. */
export const isSortedCursor = (text: string): boolean => isRequestIdOrPrefix(CURSOR_PATTERN.exec(text)?.[2] ?? '')

/** Throws `INVALID_REQUEST` if the string isn't a cursor for a sorted page. */
function parseCursor(cursor: string): SortPosition {
  const [, value = '', id = ''] = CURSOR_PATTERN.exec(cursor) ?? []
  if (id === '') throw createInputError('"before" comes from a page with a different "sort" or "order"')
  return { id, value: value === '' ? undefined : Number(value) }
}
