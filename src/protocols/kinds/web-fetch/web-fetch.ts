import type { JsonObject } from '../../../lib/json.ts'
import type { Warnings } from '../../formats/canonical/canonical-warnings.ts'
import type { EmbeddedError } from '../../formats/format.ts'
import type { KindResponse, RequestSplitter } from '../kind-adapters.ts'
import { addCharges, createPageError, type PageFormat, pickFormat, type VendorCharge } from '../web/web-responses.ts'

/** A request for web pages, independent of the vendor's format. */
export interface FetchRequest {
  /** At least one URL, normalized. */
  urls: readonly string[]
  /** The client's spelling of each URL. */
  spellings: ReadonlyMap<string, string>
  /** Whether the client sent a list, and therefore expects one. */
  isList: boolean
  /** Set if the request is part of a longer list, where some pages may fail. */
  isPartialRequest?: true
  format: PageFormat
  /** The maximum number of characters per page. */
  maxCharacters?: number
  timeoutMs?: number
  /** The maximum age of a cached copy. */
  maxAgeSeconds?: number
  includeLinks?: true
  includeImages?: true
  /** The client's vendor options. */
  options?: JsonObject
}

/** The pages that a vendor could and couldn't read. */
export interface FetchResponse extends KindResponse {
  id?: string | undefined
  pages: readonly FetchedPage[]
  failed: readonly FailedPage[]
  /** The format of the pages, if it isn't the requested one. */
  format?: PageFormat | undefined
  charge: VendorCharge
}

export interface FetchedPage {
  /** The URL as in `FetchRequest.urls`. */
  url: string
  title?: string | undefined
  text: string
  links?: readonly string[] | undefined
  images?: readonly string[] | undefined
  author?: string | undefined
  publishedAt?: string | undefined
  language?: string | undefined
  /** The page's HTTP status, if the vendor reports it. */
  statusCode?: number | undefined
  contentType?: string | undefined
}

export interface FailedPage {
  url: string
  error: string
}

/** Chooses a format that the vendor supports. */
export function chooseFormat(
  { format }: FetchRequest,
  formats: readonly [PageFormat, ...PageFormat[]],
  warnings: Warnings,
): PageFormat {
  const chosenFormat = pickFormat(format, formats)
  if (chosenFormat !== format) warnings.recordChange('format', 'replaced')
  return chosenFormat
}

/** Pages that don't exist, and pages that a vendor couldn't read. */
export interface PageFailures {
  missing: readonly FetchedPage[]
  failed: readonly FailedPage[]
}

/** Returns a response with these pages and failures. If there are none, returns a description of the missing part. */
export const createResponse = (
  pages: readonly FetchedPage[],
  { missing, failed }: PageFailures,
  fields: Omit<FetchResponse, 'pages' | 'failed'>,
): FetchResponse | string =>
  pages.length + missing.length + failed.length === 0
    ? 'the text of a page'
    : { ...fields, pages: [...pages, ...missing], failed }

/** Returns the error for a response without pages. If the reason is that pages don't exist, returns `undefined`. */
export const createFailureError = (
  vendor: string,
  { missing, failed: [first] }: PageFailures,
): EmbeddedError | undefined =>
  missing.length > 0 || !first ? undefined : createPageError(`${vendor} could not read the page: ${first.error}`)

/** Returns a page that doesn't exist. */
export const createMissingPage = (url: string, statusCode: number): FetchedPage => ({ url, text: '', statusCode })

/** Returns the client's URL for a page: the one that the vendor reports, or, if that is unknown, the one at the same position. */
export const matchUrl = (url: string | undefined, urls: readonly string[], index: number): string =>
  url !== undefined && (urls.length > 1 || urls.includes(url)) ? url : (urls[index] ?? url ?? '')

/** Returns the strings in a list. */
export const filterStrings = (list: readonly unknown[] | undefined): string[] | undefined =>
  list?.filter((item): item is string => typeof item === 'string')

/** Splits a request into one call per page, for vendors that accept only one. */
export const pageSplitter: RequestSplitter<FetchRequest, FetchResponse> = {
  countEntries: ({ urls }) => urls.length,
  slice: (request, start, end) => ({ ...request, urls: request.urls.slice(start, end), isPartialRequest: true }),
  join: (responses) => ({
    id: responses[0]?.id,
    pages: responses.flatMap(({ pages }) => pages),
    failed: responses.flatMap(({ failed }) => failed),
    format: responses[0]?.format,
    charge: addCharges(responses.map(({ charge }) => charge)),
  }),
}
