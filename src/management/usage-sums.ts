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

/** Sums of the requests that have these values in common: the members that were asked for. A value is absent where the requests have none. */
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
}

type Common = Omit<SummaryRow, keyof UsageTotals>

/** More rows are not sent at once. */
const MOST_ROWS = 50_000

/** Adds sums up by what they have in common. */
export class UsageSums {
  readonly #by: ReadonlySet<string>
  readonly #rows = new Map<string, { of: Common; sums: Sums }>()
  readonly #totals = noSums()

  constructor(by: ReadonlySet<string>) {
    this.#by = by
  }

  /** `at`: when the hour or the day of the sums begins, epoch ms. Throws `INVALID_REQUEST` when there are too many rows. */
  add({ of, sums }: { of: Dimensions; sums: Readonly<Sums> }, at: number): void {
    const common = this.#commonOf(of, at)
    const name = JSON.stringify(common)
    const row = this.#rows.get(name) ?? { of: common, sums: noSums() }
    this.#rows.set(name, row)
    if (this.#rows.size > MOST_ROWS)
      throw invalidInput(`"by" gives more than ${MOST_ROWS} rows: ask for less at once, or for a shorter time`)
    addSums(row.sums, sums)
    addSums(this.#totals, sums)
  }

  #commonOf(of: Dimensions, at: number): Common {
    const by = this.#by
    const common: Common = {}
    const time = new Date(at).toISOString()
    if (by.has('month')) common.month = time.slice(0, 7)
    if (by.has('day')) common.day = time.slice(0, 10)
    if (by.has('hour')) common.hour = time
    if (by.has('key') && of.keyId) common.keyId = of.keyId
    if (by.has('group') && of.groupId) common.groupId = of.groupId
    if (by.has('model') && of.model) common.model = of.model
    if (by.has('target') && of.provider)
      common.target = { provider: of.provider, model: of.targetModel, connectionId: of.connectionId }
    if (by.has('user') && of.user) common.user = of.user
    return common
  }

  rows(): SummaryRow[] {
    const rows = Array.from(this.#rows.values(), ({ of, sums }): SummaryRow => ({ ...of, ...totalsOf(sums) }))
    const timeOf = ({ month, day, hour }: SummaryRow) => hour ?? day ?? month ?? ''
    return rows.sort(
      (a, b) =>
        compared(timeOf(a), timeOf(b)) ||
        b.costUsd - a.costUsd ||
        b.tokens.input - a.tokens.input ||
        b.requests - a.requests,
    )
  }

  totals(): UsageTotals {
    return totalsOf(this.#totals)
  }
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
