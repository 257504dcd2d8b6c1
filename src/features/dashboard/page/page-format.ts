/* Formats numbers and times in the browser's locale, and makes untrusted strings safe to display. */

const numberFormat = new Intl.NumberFormat()
const compactFormat = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const dateTimeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })
const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const momentFormat = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
})
const hourFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

export const formatNumber = (value: number): string => numberFormat.format(value)

/** Formats a count with its noun: "1 request", "1,234 requests". */
export const formatCount = (count: number, noun: string): string =>
  `${formatNumber(count)} ${noun}${count === 1 ? '' : 's'}`

/** Formats a number compactly: 1,234 and 1.2M. */
export const formatCompact = (value: number): string =>
  Math.abs(value) < 10_000 ? formatNumber(value) : compactFormat.format(value)

/** Formats US dollars with two decimals, or more for small amounts. */
export function formatMoney(usd: number): string {
  const digits =
    usd === 0 || Math.abs(usd) >= 1 ? 2 : Math.min(8, Math.max(2, 1 - Math.floor(Math.log10(Math.abs(usd))) + 1))
  return `$${new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: digits }).format(usd)}`
}

export const formatPercent = (fraction: number): string =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: fraction < 0.1 ? 1 : 0 }).format(fraction)

/** Formats a duration: 430 ms, 1.8 s, 3 min. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${numberFormat.format(Math.round(ms / 100) / 10)} s`
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${numberFormat.format(Math.round(ms / 360_000) / 10)} h`
}

export const formatDateTime = (time: string | number): string => dateTimeFormat.format(new Date(time))
export const formatDay = (time: string | number): string => dayFormat.format(new Date(time))
export const formatHour = (time: string | number): string => hourFormat.format(new Date(time))
export const formatMoment = (time: string | number): string => momentFormat.format(new Date(time))

/** Formats the time of day. Adds the date unless it is today, and the year unless it is this year. */
export function formatClockTime(time: string | number, now = Date.now()): string {
  const date = new Date(time)
  const today = new Date(now)
  if (date.toDateString() === today.toDateString()) return timeFormat.format(date)
  return (date.getFullYear() === today.getFullYear() ? momentFormat : dateTimeFormat).format(date)
}

const TIME_UNITS: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** Formats a time relative to now: "5 min. ago", "in 3 days". */
export function formatRelativeTime(time: string | number, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1_000
  // Rounded values must not reach the next unit: 59.6 minutes are an hour, not 60 minutes.
  const [unit, size] = TIME_UNITS.find(
    ([, unitSeconds], index) => Math.abs(seconds) >= unitSeconds - (TIME_UNITS[index + 1]?.[1] ?? 0) / 2,
  ) ?? ['second', 1]
  return relativeFormat.format(Math.round(seconds / size), unit)
}

const MAX_TEXT_LENGTH = 300

/**
 * Makes an untrusted string, such as a name, a model, or an error, safe to display. Escapes invisible characters and bidirectional controls, and
 * truncates long strings.
 */
export const sanitize = (text: string): string =>
  escapeInvisible(text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text)

/** Like `sanitize`, but doesn't truncate the string. Used for errors. */
export function escapeInvisible(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return code === 0x200d ? character : `\\u{${code.toString(16)}}`
  })
}

/** Splits a field's text at commas and line breaks. */
export function splitList(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((item) => item.trim())
    .filter(Boolean)
}
