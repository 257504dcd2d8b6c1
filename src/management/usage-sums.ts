import { usdOf } from '../lib/usd.ts'
import type { Percentiles } from '../usage/kept/histogram.ts'
import type { KeptTarget, Tokens, UsedUnits } from '../usage/kept/record.ts'
import { addSums, type Dimensions, noSums, type Sums } from '../usage/kept/totals.ts'
import { invalidInput } from './input.ts'

/** Sums of requests. */
export interface UsageTotals {
  requests: number
  /** Those that failed, were cut or were refused. */
  failed: number
  /** Those of `failed` that were refused before any provider was called. */
  refused: number
  /** Attempts with tokens whose price is not known, which `costUsd` lacks. */
  unpriced: number
  tokens: Tokens
  /** What providers charge for besides tokens; absent when there is none. */
  units?: UsedUnits
  /** US dollars. */
  costUsd: number
  /** How long it took until an answer had come, or the first content of its stream, in ms; absent where nothing was measured. */
  firstByteMs?: Percentiles
  /** How long requests took that were not refused, in ms; absent where nothing was measured. */
  durationMs?: Percentiles
}

/**
 * The sums of the requests that have these values in common. A row has the members that `by` names; a member is absent if the requests have no such
 * value.
 */
export interface SummaryRow extends UsageTotals {
  /** When the hour begins, ISO 8601. */
  hour?: string
  /** In UTC, such as `2027-01-31`. */
  day?: string
  /** In UTC, such as `2027-01`. */
  month?: string
  keyId?: string
  groupId?: string
  model?: string
  target?: KeptTarget
  user?: string
  /** In the row of all others: the number of rows that it sums up. */
  others?: number
}

/** What rows of one time are ordered by. */
export type UsageOrder = (typeof usageOrders)[number]

export const usageOrders = ['cost', 'requests', 'tokens'] as const

type Common = Omit<SummaryRow, keyof UsageTotals>

/** The most rows of an answer. */
const MOST_ROWS = 50_000
/** The most rows that are compared to find the first ones of them (`top`). */
const MOST_COMPARED = 200_000

/** Which rows of a series are shown singly, by the values of their requests other than the time. All other rows are summed up in one. */
interface Apart {
  names: ReadonlySet<string>
  /** The number of the other rows. */
  others: number
}

interface SumsOptions {
  /** What the rows tell apart. */
  by: ReadonlySet<string>
  order: UsageOrder
  /** The most rows; the others are summed up in one. Default: all. */
  top?: number | undefined
  apart?: Apart
}

/** Adds up sums of requests that have the values of `by` in common. */
export class UsageSums {
  readonly #options: SumsOptions
  readonly #rows = new Map<string, { of: Common; name: string; sums: Sums }>()
  readonly #totals = noSums()

  constructor(options: SumsOptions) {
    this.#options = options
  }

  /** `at`: when the hour or the day of the sums begins, epoch ms. Throws `INVALID_REQUEST` when there are too many rows. */
  add({ of: dimensions, sums }: { of: Dimensions; sums: Readonly<Sums> }, at: number): void {
    const { by, apart, top } = this.#options
    let of = commonOf(dimensions, by)
    let name = JSON.stringify(of)
    if (apart && !apart.names.has(name)) {
      of = { others: apart.others }
      name = ''
    }
    const time = timesOf(at, by)
    const key = JSON.stringify(time) + name
    let row = this.#rows.get(key)
    if (!row) {
      row = { of: { ...time, ...of }, name, sums: noSums() }
      this.#rows.set(key, row)
      const most = top === undefined ? MOST_ROWS : MOST_COMPARED
      if (this.#rows.size > most)
        throw invalidInput(`"by" gives more than ${most} rows: ask for less at once, or for a shorter time`)
    }
    addSums(row.sums, sums)
    addSums(this.#totals, sums)
  }

  rows(): SummaryRow[] {
    const { top = Number.POSITIVE_INFINITY } = this.#options
    const ordered = this.#ordered()
    const rows = ordered.slice(0, top).map(({ of, sums }): SummaryRow => ({ ...of, ...totalsOf(sums) }))
    const others = ordered.slice(top)
    if (others.length === 0) return rows
    const together = noSums()
    for (const { sums } of others) addSums(together, sums)
    return [...rows, { others: others.length, ...totalsOf(together) }]
  }

  /** The first `count` rows, for a series of them. */
  first(count: number): Apart {
    const ordered = this.#ordered()
    const names = new Set(ordered.slice(0, count).map(({ name }) => name))
    return { names, others: ordered.length - names.size }
  }

  #ordered() {
    const timeOf = ({ month, day, hour }: Common) => hour ?? day ?? month ?? ''
    const first = measures[this.#options.order]
    return [...this.#rows.values()].sort(
      ({ of, sums }, other) =>
        compared(timeOf(of), timeOf(other.of)) ||
        first(other.sums) - first(sums) ||
        other.sums.nano - sums.nano ||
        other.sums.tokens.input - sums.tokens.input ||
        other.sums.requests - sums.requests,
    )
  }

  totals(): UsageTotals {
    return totalsOf(this.#totals)
  }
}

function timesOf(at: number, by: ReadonlySet<string>): Common {
  const times: Common = {}
  if (!by.has('month') && !by.has('day') && !by.has('hour')) return times
  const time = new Date(at).toISOString()
  if (by.has('month')) times.month = time.slice(0, 7)
  if (by.has('day')) times.day = time.slice(0, 10)
  if (by.has('hour')) times.hour = time
  return times
}

function commonOf(of: Dimensions, by: ReadonlySet<string>): Common {
  const common: Common = {}
  if (by.has('key') && of.keyId) common.keyId = of.keyId
  if (by.has('group') && of.groupId) common.groupId = of.groupId
  if (by.has('model') && of.model) common.model = of.model
  if (by.has('target') && of.provider)
    common.target = { provider: of.provider, model: of.targetModel, connectionId: of.connectionId }
  if (by.has('user') && of.user) common.user = of.user
  return common
}

const measures: Readonly<Record<UsageOrder, (sums: Sums) => number>> = {
  cost: ({ nano }) => nano,
  requests: ({ requests }) => requests,
  tokens: ({ tokens }) => tokens.input + tokens.output,
}

const compared = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

const totalsOf = ({ units, nano, firstByteMs, durationMs, tokens, ...counts }: Sums): UsageTotals => ({
  ...counts,
  tokens: { ...tokens },
  ...(Object.keys(units).length > 0 && { units }),
  costUsd: usdOf(nano),
  ...(firstByteMs && { firstByteMs: firstByteMs.percentiles() }),
  ...(durationMs && { durationMs: durationMs.percentiles() }),
})
