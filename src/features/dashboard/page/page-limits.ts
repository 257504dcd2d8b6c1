import type { LimitUnit, LimitWindow, UsageLimits } from '../../../types/limits.ts'
import { formatMoney, formatNumber } from './page-format.ts'
import { toChoices } from './ui/forms.tsx'

export const unitLabels = { usd: 'USD', requests: 'requests', tokens: 'tokens' } as const
export const windowLabels: Readonly<Record<LimitWindow, string>> = {
  minute: 'per minute',
  hour: 'per hour',
  day: 'per day',
  week: 'per week',
  month: 'per month',
  total: 'in total',
}

/** A limit, as a row in a form. */
export interface LimitRow {
  unit: keyof typeof unitLabels
  amount: string
  window: LimitWindow
}

export const formatAmount = (unit: LimitUnit, amount: number): string =>
  unit === 'usd' ? formatMoney(amount) : formatNumber(amount)

/** Returns a limit's unit and period, such as "tokens per day". */
export const formatLimitName = (unit: LimitUnit, window: LimitWindow | null): string =>
  [unit === 'parallel' ? 'concurrent requests' : unit !== 'usd' && unitLabels[unit], window && windowLabels[window]]
    .filter(Boolean)
    .join(' ')

/** Describes each limit in words. */
export function formatLimits(limits: UsageLimits | undefined): string[] {
  if (!limits) return []
  const windowTexts = toLimitRows(limits).map(
    ({ unit, amount, window }) => `${formatAmount(unit, Number(amount))} ${formatLimitName(unit, window)}`,
  )
  return limits.parallel === undefined
    ? windowTexts
    : [...windowTexts, `${formatNumber(limits.parallel)} concurrent requests`]
}

export const toLimitRows = (limits: UsageLimits | undefined): LimitRow[] =>
  toChoices(unitLabels).flatMap(([unit]) =>
    toChoices(windowLabels).flatMap(([window]) => {
      const amount = limits?.[unit]?.[window]
      return amount === undefined ? [] : { unit, amount: String(amount), window }
    }),
  )

/** Converts a form's limits to API input. Returns `null` if there are none. Includes invalid amounts, so the gateway reports them. */
export function toLimits(rows: readonly LimitRow[], parallel: string): UsageLimits | null {
  const limits: UsageLimits = {}
  for (const { unit, amount, window } of rows) {
    if (amount.trim() === '') continue
    limits[unit] = { ...limits[unit], [window]: Number(amount) }
  }
  if (parallel.trim() !== '') limits.parallel = Number(parallel)
  return Object.keys(limits).length > 0 ? limits : null
}
