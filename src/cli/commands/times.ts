import { createUsageProblem } from '../command-line.ts'

/** Parses a time: one in a format that the gateway accepts, a day name, or an age such as `7d`. */
export function readTime(option: string, timeText: string): string {
  const value = timeText.trim().toLowerCase()
  if (value === 'now') return new Date().toISOString()
  const [, amount, unit = ''] = /^(\d{1,6}) ?([mhdw])(?: ago)?$/.exec(value) ?? []
  if (amount !== undefined) return new Date(Date.now() - Number(amount) * (UNITS_MS[unit] ?? 0)).toISOString()
  if (/^\d{4}-/.test(value)) return timeText // the gateway validates the full format
  if (!Object.hasOwn(DAYS_AGO_BY_WORD, value))
    throw createUsageProblem(
      `--${option} "${timeText}" is not a valid time. Use an age (30m, 24h, 7d, 2w), today, yesterday, or a date such as 2027-01-31.`,
    )
  const midnight = new Date()
  midnight.setUTCHours(0, 0, 0, 0)
  return new Date(midnight.getTime() - (DAYS_AGO_BY_WORD[value] ?? 0) * DAY_MS).toISOString()
}

const HOUR_MS = 60 * 60 * 1_000
const DAY_MS = 24 * HOUR_MS
const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: DAY_MS, w: 7 * DAY_MS }
const DAYS_AGO_BY_WORD: Readonly<Record<string, number>> = { today: 0, yesterday: 1 }
