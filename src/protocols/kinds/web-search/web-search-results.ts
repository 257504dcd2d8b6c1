import { isObject } from '../../../lib/json.ts'
import type { KindResponse, RequestSplitter } from '../kind-adapters.ts'
import { addCharges, type PageFormat, type VendorCharge } from '../web/web-responses.ts'
import { getAmount, getText, parseDate, toPlainText } from '../web/web-text.ts'
import type { SearchRequest } from './web-search.ts'

/** A search response, independent of the vendor's format. */
export interface SearchResponse extends KindResponse {
  /** The vendor's search ID. */
  id?: string | undefined
  results: readonly SearchResult[]
  /** The format of full pages, if it isn't the requested one. */
  pageFormat?: PageFormat | undefined
  charge: VendorCharge
  serverTime?: string | undefined
}

export interface SearchResult {
  title: string
  url: string
  snippet: string
  /** When the page was published, and when it was last changed, in ISO 8601. */
  date?: string | undefined
  lastUpdated?: string | undefined
  score?: number | undefined
  /** The full text of the page. */
  content?: string | undefined
  author?: string | undefined
  image?: string | undefined
  favicon?: string | undefined
}

/** The vendor's field names in results. The first field with a value is used. */
export interface ResultFields {
  title?: readonly string[]
  url?: readonly string[]
  snippet: readonly string[]
  date?: readonly string[]
  lastUpdated?: readonly string[]
  content?: readonly string[]
  image?: readonly string[]
}

/** Reads a vendor's results, skipping results without a URL. `now` (epoch ms) resolves dates such as `3 days ago`. */
export function readResults(list: readonly unknown[], names: ResultFields, now: number): SearchResult[] {
  return list.filter(isObject).flatMap((item) => {
    const getFirstText = (fieldNames: readonly string[] = []) =>
      fieldNames.map((name) => getText(item[name])).find(Boolean)
    const url = getFirstText(names.url ?? ['url'])
    if (url === undefined) return []
    return [
      {
        title: toPlainText(getFirstText(names.title ?? ['title'])),
        url,
        snippet: toPlainText(getFirstText(names.snippet)),
        date: parseDate(getFirstText(names.date), now),
        lastUpdated: parseDate(getFirstText(names.lastUpdated), now),
        score: getAmount(item.score),
        content: getFirstText(names.content),
        author: getFirstText(['author']),
        image: getFirstText(names.image),
        favicon: getFirstText(['favicon']),
      },
    ]
  })
}

/** Splits a request into one call per query, for vendors that accept only one. */
export const querySplitter: RequestSplitter<SearchRequest, SearchResponse> = {
  countEntries: ({ queries }) => queries.length,
  slice: (request, start, end) => ({ ...request, queries: request.queries.slice(start, end) }),
  join(responses) {
    const maxResultCount = Math.max(...responses.map(({ results }) => results.length))
    const interleavedResults = Array.from({ length: maxResultCount }, (_, rank) =>
      responses.flatMap(({ results }) => results[rank] ?? []),
    )
    return {
      id: responses[0]?.id,
      results: interleavedResults.flat(),
      pageFormat: responses[0]?.pageFormat,
      charge: addCharges(responses.map(({ charge }) => charge)),
    }
  },
}
