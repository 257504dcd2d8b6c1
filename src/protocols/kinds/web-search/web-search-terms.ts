import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import { type PageFormat, pickFormat } from '../web/web-responses.ts'
import type { Recency, SearchRequest } from './web-search.ts'

/** Returns the number of results, up to the vendor's limit. */
export function chooseCount({ maxResults }: SearchRequest, max: number, warnings: Warnings): number {
  if (maxResults > max) warnings.recordChange('maxResults', 'clamped')
  return Math.min(maxResults, max)
}

/** Returns the preferred language, for vendors that accept only one: the language in lowercase, its region in uppercase. */
export function chooseLanguage({ languages }: SearchRequest, warnings: Warnings): string | undefined {
  if (languages && languages.length > 1) warnings.recordDrop('search_language_filter[1]')
  const [language, region] = languages?.[0]?.split('-') ?? []
  return region ? `${language?.toLowerCase()}-${region.toUpperCase()}` : language?.toLowerCase()
}

/** Returns a language without its region. */
export const stripRegion = (language: string): string => language.split('-')[0] ?? language

/** Chooses a format for full pages that the vendor supports. Returns `undefined` if the request doesn't include full pages. */
export function choosePageFormat(
  { page }: SearchRequest,
  formats: readonly [PageFormat, ...PageFormat[]],
  warnings: Warnings,
): PageFormat | undefined {
  const format = page && pickFormat(page.format, formats)
  if (format !== page?.format) warnings.recordChange('content_options.format', 'replaced')
  return format
}

/** Returns the result page that contains the request's offset. `first` is the number of the first page. */
export function choosePage(
  { offset = 0 }: SearchRequest,
  pageSize: number,
  { first: firstPage, warnings }: { first: number; warnings: Warnings },
) {
  if (offset % pageSize !== 0) warnings.recordChange('offset', 'clamped')
  return offset < pageSize ? undefined : firstPage + Math.floor(offset / pageSize)
}

/** Adds the domains to the query as search operators. `excludeOperator` precedes the operator of an excluded domain. */
export function addSiteOperators(
  { queries: [query = ''], include, exclude }: SearchRequest,
  excludeOperator = '-',
): string {
  const sites = include.map((domain) => `site:${stripWildcard(domain)}`).join(' OR ')
  const excludedSites = exclude.map((domain) => `${excludeOperator}site:${stripWildcard(domain)}`)
  return [query, ...(include.length > 1 ? [`(${sites})`] : sites === '' ? [] : [sites]), ...excludedSites].join(' ')
}

/** Removes a leading wildcard, because the `site:` operator includes subdomains. */
const stripWildcard = (domain: string) => domain.replace(/^\*?\./, '')

/** Writes Google's time filter, such as `qdr:w` or `cdr:1,cd_min:11/1/2026`. Dates take precedence over a maximum age. */
export function writeGoogleTimes({ recency, after, before }: SearchRequest, warnings: Warnings): string | undefined {
  if (!after && !before) return recency && `qdr:${recency[0]}`
  if (recency) warnings.recordDrop('recency')
  const days = [after && `cd_min:${toUsDate(after)}`, before && `cd_max:${toUsDate(before)}`]
  return ['cdr:1', ...days.filter(Boolean)].join(',')
}

/** Converts `2026-11-24` to `11/24/2026`. */
export const toUsDate = (day: string): string => day.replace(/^(\d+)-(\d+)-(\d+)$/, '$2/$3/$1')

/** Returns the earliest publication time that the request's start date and maximum age allow, in ISO 8601. */
export function getStartTime({ recency, after, now }: SearchRequest): string | undefined {
  const times = [recency && now - AGE_MS[recency], after && Date.parse(after)].filter(
    (time) => typeof time === 'number',
  )
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString()
}

const DAY_MS = 86_400_000
const AGE_MS: Readonly<Record<Recency, number>> = {
  hour: 3_600_000,
  day: DAY_MS,
  week: 7 * DAY_MS,
  month: 30 * DAY_MS,
  year: 365 * DAY_MS,
}
