import { assertNever } from '../../../lib/assert-never.ts'
import type { LimitWindow } from '../../../types/limits.ts'

/** Whole minutes since the Unix epoch. All window calculations use this unit. */
export type Minute = number

/** The windows in the storage order of their counters. */
export const WINDOWS: readonly LimitWindow[] = ['minute', 'hour', 'day', 'week', 'month', 'total']

const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES
const WEEK_MINUTES = 7 * DAY_MINUTES
/** 1970-01-05, the first Monday of the epoch. */
const FIRST_MONDAY = 4 * DAY_MINUTES
const MINUTE_MS = 60_000

/** Returns the minute that contains a time in epoch ms. */
export const toMinute = (ms: number): Minute => Math.floor(ms / MINUTE_MS)

/** Returns the first minute of the window that contains `minute`, or 0 for `total`. */
export function getWindowStart(window: LimitWindow, minute: Minute): Minute {
  switch (window) {
    case 'minute':
      return minute
    case 'hour':
      return minute - (minute % HOUR_MINUTES)
    case 'day':
      return minute - (minute % DAY_MINUTES)
    case 'week':
      return minute - ((minute - FIRST_MONDAY + WEEK_MINUTES) % WEEK_MINUTES)
    case 'month':
      return getMonthStart(minute, 0)
    case 'total':
      return 0
    default:
      return assertNever(window)
  }
}

/** Returns the first minute after the window that contains `minute`, or `undefined` for `total`. */
export function getWindowEnd(window: LimitWindow, minute: Minute): Minute | undefined {
  switch (window) {
    case 'minute':
      return minute + 1
    case 'hour':
      return getWindowStart(window, minute) + HOUR_MINUTES
    case 'day':
      return getWindowStart(window, minute) + DAY_MINUTES
    case 'week':
      return getWindowStart(window, minute) + WEEK_MINUTES
    case 'month':
      return getMonthStart(minute, 1)
    case 'total':
      return undefined
    default:
      return assertNever(window)
  }
}

/** Returns the first minute of the month `monthOffset` months after the one with `minute`. */
function getMonthStart(minute: Minute, monthOffset: number): Minute {
  const date = new Date(minute * MINUTE_MS)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + monthOffset) / MINUTE_MS
}

let lastMinute: Minute = -1
let lastStarts: readonly Minute[] = []

/** Returns the starts of all windows that contain `minute`, in the order of `WINDOWS`. Returns the same array for the same minute. */
export function getWindowStarts(minute: Minute): readonly Minute[] {
  if (minute !== lastMinute) {
    lastStarts = WINDOWS.map((window) => getWindowStart(window, minute))
    lastMinute = minute
  }
  return lastStarts
}

let lastEndsMinute: Minute = -1
const lastEnds = new Map<LimitWindow, string | null>()

/** Returns when the window that contains `minute` ends, in ISO 8601, or `null` for `total`. Caches the results for the latest minute. */
export function formatWindowEnd(window: LimitWindow, minute: Minute): string | null {
  if (minute !== lastEndsMinute) lastEnds.clear()
  lastEndsMinute = minute
  let text = lastEnds.get(window)
  if (text === undefined) {
    const windowEnd = getWindowEnd(window, minute)
    text = windowEnd === undefined ? null : new Date(windowEnd * MINUTE_MS).toISOString()
    lastEnds.set(window, text)
  }
  return text
}
