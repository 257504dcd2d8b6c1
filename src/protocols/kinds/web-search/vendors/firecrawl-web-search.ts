import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { findFirecrawlError } from '../../web/firecrawl-web.ts'
import { isBoolean, isInteger, isLine, isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, pickFormat, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { addSiteOperators, chooseCount, choosePageFormat, writeGoogleTimes } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['country', 'recency', 'after', 'before', 'include', 'exclude', 'page'] as const),
])

const OPTIONS: OptionChecks = {
  categories: (value) =>
    Array.isArray(value) && value.length <= 4 && value.every(isOneOf('github', 'research', 'pdf', 'developer')),
  location: isLine,
  timeout: isInteger(1_000, 300_000),
  ignoreInvalidURLs: isBoolean,
  highlights: isBoolean,
}

const FORMATS = ['markdown', 'html'] as const

export const firecrawl: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'firecrawl',
  providers: ['firecrawl'],
  keyHeader: 'bearer',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    const isNews = request.type === 'news'
    recordUnsupported(request, isNews ? new Set([...SUPPORTED_FEATURES, 'type']) : SUPPORTED_FEATURES, warnings)
    const options = readVendorOptions(request.options, {
      names: ['firecrawl', target.provider],
      checks: OPTIONS,
      warnings,
    })
    const { include, exclude } = request
    const format = choosePageFormat(request, FORMATS, warnings)
    const usesBothFilters = include.length > 0 && exclude.length > 0 // Firecrawl rejects requests with both
    return {
      path: '/search',
      body: {
        ...options,
        ...omitUndefined({
          query: usesBothFilters ? addSiteOperators({ ...request, include: [] }) : request.queries[0],
          limit: chooseCount(request, 100, warnings),
          sources: isNews ? ['news'] : undefined,
          includeDomains: include.length > 0 ? include : undefined,
          excludeDomains: exclude.length > 0 && !usesBothFilters ? exclude : undefined,
          country: request.country,
          tbs: writeGoogleTimes(request, warnings),
          scrapeOptions: format && { formats: [format] },
        }),
      },
    }
  },
  readResponse(json, request) {
    const data = getObject(json, 'data')
    const list = [...(getList(data, 'web') ?? []), ...(getList(data, 'news') ?? [])]
    if (!isObject(json.data)) return 'a list of results'
    const names = {
      snippet: ['description', 'snippet'],
      date: ['date'],
      content: ['markdown', 'html'],
      image: ['imageUrl'],
    }
    const charge = { credits: getAmount(json.creditsUsed) }
    return {
      id: getText(json.id),
      results: readResults(list.filter(isObject).map(addMetadata), names, request.now),
      pageFormat: request.page && pickFormat(request.page.format, FORMATS),
      charge,
      usage: toUsage({ search: 1 }, charge, list),
    }
  },
  findError: findFirecrawlError,
}

/** Fills in missing fields from the metadata of the scraped page. */
const addMetadata = (item: JsonObject): JsonObject => {
  const { title, description, url, sourceURL, publishedTime, favicon } = getObject(item, 'metadata')
  return { date: publishedTime, favicon, ...omitUndefined({ title, description, url: sourceURL ?? url }), ...item }
}
