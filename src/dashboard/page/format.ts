/*
 * Numbers, times and texts of others, as people read them: in the locale of the browser, and safe to show.
 */

const numbers = new Intl.NumberFormat()
const short = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const hours = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' })

export const exactNumber = (value: number): string => numbers.format(value)

/** 1,234 as it is, 1,234,567 as 1.2M. */
export const shortNumber = (value: number): string =>
  Math.abs(value) < 10_000 ? exactNumber(value) : short.format(value)

/** US dollars: two digits, more where the amount is small. */
export function money(usd: number): string {
  const digits =
    usd === 0 || Math.abs(usd) >= 1 ? 2 : Math.min(8, Math.max(2, 1 - Math.floor(Math.log10(Math.abs(usd))) + 1))
  return `$${new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: digits }).format(usd)}`
}

export const percent = (share: number): string =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(share)

/** 430 ms, 1.8 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${numbers.format(Math.round(ms / 100) / 10)} s`
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${numbers.format(Math.round(ms / 360_000) / 10)} h`
}

export const exactTime = (time: string | number): string => dates.format(new Date(time))
export const dayOf = (time: string | number): string => days.format(new Date(time))
export const hourOf = (time: string | number): string => hours.format(new Date(time))
export const clockTime = (time: string | number): string => clock.format(new Date(time))

const UNITS: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** "5 min. ago", "in 3 days". */
export function relativeTime(time: string | number, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1_000
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
  return relative.format(Math.round(seconds / size), unit)
}

/** The most characters of a text of others that are shown. */
const MAX_TEXT = 300

/**
 * A text that somebody else has chosen: a name, a model, an error. Characters that have no form, or that turn the direction of what follows, are
 * shown as escapes, and the text is cut.
 */
export const shown = (text: string): string => escaped(text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text)

/** Likewise, whole: for errors. */
export function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Cs}]/gu, (found) => {
    const code = found.codePointAt(0) ?? 0
    return code === 0x200d ? found : `\\u{${code.toString(16)}}`
  })
}

/** What is listed in a field, separated by commas or lines. */
export function listed(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((one) => one.trim())
    .filter(Boolean)
}
