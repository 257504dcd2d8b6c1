import { createInputError } from '../../../admin/input.ts'
import { fromNanoUsd } from '../../../lib/usd.ts'
import type { Integer, IsoTime } from '../../../types/plain-types.ts'
import type { Percentiles } from '../histogram.ts'
import type { StoredTarget, Tokens, UsedUnits } from '../request-record.ts'
import { addRowTotals, createRowTotals, type Dimensions, type RowTotals } from '../totals.ts'

/** Totals of requests. */
export interface UsageTotals {
  requests: Integer
  /** Requests that failed, were cut off, or were rejected. */
  failed: Integer
  /** Failed requests that were rejected before any provider was called. */
  refused: Integer
  /** Attempts with tokens or units of an unknown price, which `costUsd` doesn't include. */
  unpriced: Integer
  tokens: Tokens
  /** Billable units other than tokens. Absent if there are none. */
  units?: UsedUnits
  /** In US dollars. */
  costUsd: number
  /** The savings of the gateway's cache breakpoints in US dollars; negative if they cost more. Absent if there is nothing to report. */
  cacheSavedUsd?: number
  /** Time to the response or to the first content of its stream, in ms. Absent if nothing was measured. */
  firstByteMs?: Percentiles
  /** Duration of requests that weren't rejected, in ms. Absent if nothing was measured. */
  durationMs?: Percentiles
}

/** Totals for the requests that share these values. A row has the fields named in `by`, unless its requests have no value for them. */
export interface SummaryRow extends UsageTotals {
  /** Start of the hour, ISO 8601. */
  hour?: IsoTime
  /** In UTC, such as `2027-01-31`. */
  day?: string
  /** In UTC, such as `2027-01`. */
  month?: string
  keyId?: string
  groupId?: string
  model?: string
  target?: StoredTarget
  user?: string
  /** An account's ref. */
  account?: string
  /** The number of rows that this row combines. Set only in the row that combines all remaining rows. */
  others?: Integer
}

/** How to sort rows with the same time. */
export type UsageOrder = (typeof usageOrders)[number]

export const usageOrders = ['cost', 'requests', 'tokens'] as const

type RowDimensions = Omit<SummaryRow, keyof UsageTotals>

/** Maximum rows in a response. */
const MAX_ROWS = 50_000
/** Maximum number of rows to compare for `top`. */
const MAX_COMPARED_ROWS = 200_000

/** The rows that a series shows separately, identified by their values other than the time. All others are summed in one row. */
interface SeriesRows {
  names: ReadonlySet<string>
  /** The number of rows that aren't shown separately. */
  otherCount: number
}

interface AggregatorOptions {
  /** The rows' dimensions. */
  by: ReadonlySet<string>
  order: UsageOrder
  /** Maximum number of rows; all others are summed in one extra row. Default: all. */
  top?: number | undefined
  seriesRows?: SeriesRows
}

/** Sums the usage of requests that have the same values for `by`. */
export class UsageAggregator {
  readonly #options: AggregatorOptions
  readonly #rows = new Map<string, { dimensions: RowDimensions; name: string; sums: RowTotals }>()
  readonly #totals = createRowTotals()

  constructor(options: AggregatorOptions) {
    this.#options = options
  }

  /** Adds a row of totals for an hour or day. `startTime` is its start in epoch ms. Throws `INVALID_REQUEST` if there are too many rows. */
  add({ dimensions, sums }: { dimensions: Dimensions; sums: Readonly<RowTotals> }, startTime: number): void {
    const { by, seriesRows, top } = this.#options
    let rowDimensions = getRowDimensions(dimensions, by)
    let rowName = JSON.stringify(rowDimensions)
    if (seriesRows && !seriesRows.names.has(rowName)) {
      rowDimensions = { others: seriesRows.otherCount }
      rowName = ''
    }
    const timeDimensions = getTimeDimensions(startTime, by)
    const key = JSON.stringify(timeDimensions) + rowName
    let row = this.#rows.get(key)
    if (!row) {
      row = { dimensions: { ...timeDimensions, ...rowDimensions }, name: rowName, sums: createRowTotals() }
      this.#rows.set(key, row)
      const maxRows = top === undefined ? MAX_ROWS : MAX_COMPARED_ROWS
      if (this.#rows.size > maxRows)
        throw createInputError(`"by" produces more than ${maxRows} rows. Use fewer dimensions or a shorter time range`)
    }
    addRowTotals(row.sums, sums)
    addRowTotals(this.#totals, sums)
  }

  getRows(): SummaryRow[] {
    const { top = Number.POSITIVE_INFINITY } = this.#options
    const sortedRows = this.#sortRows()
    const summaryRows = sortedRows
      .slice(0, top)
      .map(({ dimensions, sums }): SummaryRow => ({ ...dimensions, ...toUsageTotals(sums) }))
    const otherRows = sortedRows.slice(top)
    if (otherRows.length === 0) return summaryRows
    const otherTotals = createRowTotals()
    for (const { sums } of otherRows) addRowTotals(otherTotals, sums)
    return [...summaryRows, { others: otherRows.length, ...toUsageTotals(otherTotals) }]
  }

  /** Returns the first `count` rows, for a series that shows them separately. */
  getFirstRows(count: number): SeriesRows {
    const sortedRows = this.#sortRows()
    const names = new Set(sortedRows.slice(0, count).map(({ name }) => name))
    return { names, otherCount: sortedRows.length - names.size }
  }

  #sortRows() {
    const getTime = ({ month, day, hour }: RowDimensions) => hour ?? day ?? month ?? ''
    const getOrderValue = orderValueGetters[this.#options.order]
    return [...this.#rows.values()].sort(
      ({ dimensions, sums }, other) =>
        compareStrings(getTime(dimensions), getTime(other.dimensions)) ||
        getOrderValue(other.sums) - getOrderValue(sums) ||
        other.sums.nano - sums.nano ||
        other.sums.tokens.input - sums.tokens.input ||
        other.sums.requests - sums.requests,
    )
  }

  getTotals(): UsageTotals {
    return toUsageTotals(this.#totals)
  }
}

function getTimeDimensions(startTime: number, by: ReadonlySet<string>): RowDimensions {
  const timeDimensions: RowDimensions = {}
  if (!by.has('month') && !by.has('day') && !by.has('hour')) return timeDimensions
  const time = new Date(startTime).toISOString()
  if (by.has('month')) timeDimensions.month = time.slice(0, 7)
  if (by.has('day')) timeDimensions.day = time.slice(0, 10)
  if (by.has('hour')) timeDimensions.hour = time
  return timeDimensions
}

function getRowDimensions(dimensions: Dimensions, by: ReadonlySet<string>): RowDimensions {
  const rowDimensions: RowDimensions = {}
  if (by.has('key') && dimensions.keyId) rowDimensions.keyId = dimensions.keyId
  if (by.has('group') && dimensions.groupId) rowDimensions.groupId = dimensions.groupId
  if (by.has('model') && dimensions.model) rowDimensions.model = dimensions.model
  if (by.has('target') && dimensions.provider)
    rowDimensions.target = {
      provider: dimensions.provider,
      model: dimensions.targetModel,
      connectionId: dimensions.connectionId,
    }
  if (by.has('account') && dimensions.account) rowDimensions.account = dimensions.account
  if (by.has('user') && dimensions.user) rowDimensions.user = dimensions.user
  return rowDimensions
}

const orderValueGetters: Readonly<Record<UsageOrder, (sums: RowTotals) => number>> = {
  cost: ({ nano }) => nano,
  requests: ({ requests }) => requests,
  tokens: ({ tokens }) => tokens.input + tokens.output,
}

const compareStrings = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const toUsageTotals = ({
  units,
  nano,
  cacheSavedNano,
  firstByteMs,
  durationMs,
  tokens,
  ...counts
}: RowTotals): UsageTotals => ({
  ...counts,
  tokens: { ...tokens },
  ...(Object.keys(units).length > 0 && { units }),
  costUsd: fromNanoUsd(nano),
  ...(cacheSavedNano !== 0 && { cacheSavedUsd: fromNanoUsd(cacheSavedNano) }),
  ...(firstByteMs && { firstByteMs: firstByteMs.getPercentiles() }),
  ...(durationMs && { durationMs: durationMs.getPercentiles() }),
})
