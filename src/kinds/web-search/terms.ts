import type { Warnings } from '../../formats/canonical/warnings.ts'
import { formatAmong, type PageFormat } from '../web/answers.ts'
import type { Recency, WebSearch } from './search.ts'

/*
 * What several vendors ask for in the same way.
 */

/** The number of results to ask for, at most the vendor's own limit. */
export function countFor({ maxResults }: WebSearch, most: number, warnings: Warnings): number {
  if (maxResults > most) warnings.noteChanged('maxResults', 'clamped')
  return Math.min(maxResults, most)
}

/** The language that is wanted most, for vendors that take one: in small letters, its region in capitals. */
export function languageFor({ languages }: WebSearch, warnings: Warnings): string | undefined {
  if (languages && languages.length > 1) warnings.noteDropped('search_language_filter[1]')
  const [language, region] = languages?.[0]?.split('-') ?? []
  return region ? `${language?.toLowerCase()}-${region.toUpperCase()}` : language?.toLowerCase()
}

/** A language without its region. */
export const primaryOf = (language: string): string => language.split('-')[0] ?? language

/** The form in which whole pages are asked for, if they are wanted, among those that the vendor has. */
export function pageFormatFor(
  { page }: WebSearch,
  formats: readonly [PageFormat, ...PageFormat[]],
  warnings: Warnings,
): PageFormat | undefined {
  const format = page && formatAmong(page.format, formats)
  if (format !== page?.format) warnings.noteChanged('content_options.format', 'replaced')
  return format
}

/** The number of the page that begins with the first result that is wanted, counted from `first`. */
export function pageFor(
  { offset = 0 }: WebSearch,
  size: number,
  { first, warnings }: { first: number; warnings: Warnings },
) {
  if (offset % size !== 0) warnings.noteChanged('offset', 'clamped')
  return offset < size ? undefined : first + Math.floor(offset / size)
}

/** The query with its domains as operators of search engines; `without`: the operator in front of a domain that is left out. */
export function queryWithSites({ queries: [query = ''], include, exclude }: WebSearch, without = '-'): string {
  const sites = include.map((domain) => `site:${bare(domain)}`).join(' OR ')
  const others = exclude.map((domain) => `${without}site:${bare(domain)}`)
  return [query, ...(include.length > 1 ? [`(${sites})`] : sites === '' ? [] : [sites]), ...others].join(' ')
}

/** The domain without what some vendors write for its subdomains, which the operator includes. */
const bare = (domain: string) => domain.replace(/^\*?\./, '')

/** Google's filter of times, `qdr:w` or `cdr:1,cd_min:11/1/2026`; days come before an age. */
export function googleTimes({ recency, after, before }: WebSearch, warnings: Warnings): string | undefined {
  if (!after && !before) return recency && `qdr:${recency[0]}`
  if (recency) warnings.noteDropped('recency')
  const days = [after && `cd_min:${american(after)}`, before && `cd_max:${american(before)}`]
  return ['cdr:1', ...days.filter(Boolean)].join(',')
}

/** The day `2026-11-24` as `11/24/2026`. */
export const american = (day: string): string => day.replace(/^(\d+)-(\d+)-(\d+)$/, '$2/$3/$1')

/** The beginning of the time that results may be from, in ISO 8601, of the day and the age that the search names. */
export function startOf({ recency, after, now }: WebSearch): string | undefined {
  const times = [recency && now - AGES[recency], after && Date.parse(after)].filter((time) => typeof time === 'number')
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString()
}

const DAY = 86_400_000
const AGES: Readonly<Record<Recency, number>> = {
  hour: 3_600_000,
  day: DAY,
  week: 7 * DAY,
  month: 30 * DAY,
  year: 365 * DAY,
}
