import type { LimitUnit, LimitWindow, UsageLimits } from '../../types/limits.ts'
import { exactNumber, money } from './format.ts'
import * as texts from './texts/keys.ts'

export const windows = ['minute', 'hour', 'day', 'week', 'month', 'total'] as const satisfies readonly LimitWindow[]
export const countedUnits = ['usd', 'requests', 'tokens'] as const

/** A limit as a row of a form. */
export interface LimitRow {
  unit: (typeof countedUnits)[number]
  amount: string
  window: LimitWindow
}

export const amountOf = (unit: LimitUnit, amount: number): string =>
  unit === 'usd' ? money(amount) : exactNumber(amount)

/** What an amount is of, and in which time: "tokens a day". */
export const limitWords = (unit: LimitUnit, window: LimitWindow | null): string =>
  [unit === 'usd' ? '' : texts.units[unit], window && texts.windows[window]].filter(Boolean).join(' ')

/** Each limit in words. */
export function limitTexts(limits: UsageLimits | undefined): string[] {
  if (!limits) return []
  const windowed = rowsOf(limits).map(
    ({ unit, amount, window }) => `${amountOf(unit, Number(amount))} ${limitWords(unit, window)}`,
  )
  return limits.parallel === undefined ? windowed : [...windowed, texts.atOnce(exactNumber(limits.parallel))]
}

export const rowsOf = (limits: UsageLimits | undefined): LimitRow[] =>
  countedUnits.flatMap((unit) =>
    windows.flatMap((window) => {
      const amount = limits?.[unit]?.[window]
      return amount === undefined ? [] : { unit, amount: String(amount), window }
    }),
  )

/** The limits of a form; `null` where there are none. What is no number is sent as it is, and the gateway says so. */
export function limitsOf(rows: readonly LimitRow[], parallel: string): UsageLimits | null {
  const limits: UsageLimits = {}
  for (const { unit, amount, window } of rows) {
    if (amount.trim() === '') continue
    limits[unit] = { ...limits[unit], [window]: Number(amount) }
  }
  if (parallel.trim() !== '') limits.parallel = Number(parallel)
  return Object.keys(limits).length > 0 ? limits : null
}
