import type { Warnings } from '../../formats/canonical/warnings.ts'
import type { EmbeddedError } from '../../formats/format.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Division, Used } from '../forms.ts'
import { formatAmong, type PageFormat, sumOfCharges, unreadablePage, type VendorCharge } from '../web/answers.ts'

/** Pages to be read, as a client asks for them. */
export interface WebFetch {
  /** At least one, as every platform spells it. */
  urls: readonly string[]
  /** The client's spelling of each. */
  spelling: ReadonlyMap<string, string>
  /** Did the client give a list, whose answer is one, too? */
  isList: boolean
  /** Is it a part of a longer list, of whose pages some may be read where others are not? */
  isPart?: true
  format: PageFormat
  /** Of each page. */
  maxCharacters?: number
  timeoutMs?: number
  /** How old a stored copy may be, in seconds. */
  fresh?: number
  links?: true
  images?: true
  /** The client's options for vendors. */
  options?: JsonObject
}

/** The pages that a vendor has read, and those that it has not. */
export interface FetchedPages extends Used {
  id?: string | undefined
  pages: readonly FetchedPage[]
  failed: readonly FailedPage[]
  /** The form of the pages, where it is not the one that was asked for. */
  format?: PageFormat | undefined
  spent: VendorCharge
}

export interface FetchedPage {
  /** As in `WebFetch.urls`. */
  url: string
  title?: string | undefined
  text: string
  links?: readonly string[] | undefined
  images?: readonly string[] | undefined
  author?: string | undefined
  publishedAt?: string | undefined
  language?: string | undefined
  /** The status with which the page was answered, where the vendor says it. */
  statusCode?: number | undefined
  contentType?: string | undefined
}

export interface FailedPage {
  url: string
  error: string
}

/** The form in which pages are asked for, among those that the vendor has. */
export function formatFor(
  { format }: WebFetch,
  formats: readonly [PageFormat, ...PageFormat[]],
  warnings: Warnings,
): PageFormat {
  const given = formatAmong(format, formats)
  if (given !== format) warnings.noteChanged('format', 'replaced')
  return given
}

/** The pages that a vendor reports as missing, and those that it could not read. */
export interface PageFailures {
  gone: readonly FetchedPage[]
  failed: readonly FailedPage[]
}

/** The answer with these pages and failures, or what it lacks if it has none of either. */
export const pagesWith = (
  pages: readonly FetchedPage[],
  { gone, failed }: PageFailures,
  facts: Omit<FetchedPages, 'pages' | 'failed'>,
): FetchedPages | string =>
  pages.length + gone.length + failed.length === 0
    ? 'the text of a page'
    : { ...facts, pages: [...pages, ...gone], failed }

/** The error of an answer without pages, where the vendor could not read them; `undefined` where pages are missing. */
export const errorOfFailures = (vendor: string, { gone, failed: [first] }: PageFailures): EmbeddedError | undefined =>
  gone.length > 0 || !first ? undefined : unreadablePage(`${vendor} could not read the page: ${first.error}`)

/** A page that does not exist, by its status. */
export const missingPage = (url: string, statusCode: number): FetchedPage => ({ url, text: '', statusCode })

/** The address under which the client knows a page: the one that a vendor names, or, if that is none of them, the one at the same place. */
export const nameOf = (url: string | undefined, urls: readonly string[], at: number): string =>
  url !== undefined && (urls.length > 1 || urls.includes(url)) ? url : (urls[at] ?? url ?? '')

/** The texts in a list. */
export const textsIn = (list: readonly unknown[] | undefined): string[] | undefined =>
  list?.filter((item): item is string => typeof item === 'string')

/** A page to each call, for vendors that take one. */
export const byPage: Division<WebFetch, FetchedPages> = {
  sizeOf: ({ urls }) => urls.length,
  slice: (fetch, start, end) => ({ ...fetch, urls: fetch.urls.slice(start, end), isPart: true }),
  join: (given) => ({
    id: given[0]?.id,
    pages: given.flatMap(({ pages }) => pages),
    failed: given.flatMap(({ failed }) => failed),
    format: given[0]?.format,
    spent: sumOfCharges(given.map(({ spent }) => spent)),
  }),
}
