import { isObject } from '../../../../lib/json.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { isLine, isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, toUsage } from '../../web/web-responses.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { addSiteOperators, chooseLanguage, choosePage } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['languages', 'recency', 'include', 'exclude', 'offset'] as const),
])

const OPTIONS: OptionChecks = { safesearch: isOneOf(0, 1, 2), engines: isLine, categories: isLine }

/** The usual page size. The actual one depends on the server's settings. */
const PAGE_SIZE = 10

/** A self-hosted server. Its settings must include `json` in `search.formats`. */
export const searxng: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'searxng',
  providers: ['searxng'],
  keyHeader: 'bearer',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    const isNews = request.type === 'news'
    recordUnsupported(request, isNews ? new Set([...SUPPORTED_FEATURES, 'type']) : SUPPORTED_FEATURES, warnings)
    const options = readVendorOptions(request.options, {
      names: ['searxng', target.provider],
      checks: OPTIONS,
      warnings,
    })
    const { recency } = request
    const timeRange = recency === 'hour' ? 'day' : recency === 'week' ? 'month' : recency
    if (timeRange !== recency) warnings.recordChange('recency', 'replaced')
    return {
      method: 'GET',
      path: '/search',
      headers: { accept: 'application/json' },
      query: {
        ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)])),
        q: addSiteOperators(request),
        format: 'json',
        language: chooseLanguage(request, warnings),
        time_range: timeRange,
        pageno: choosePage(request, PAGE_SIZE, { first: 1, warnings }),
        ...(isNews && { categories: 'news' }),
      },
    }
  },
  readResponse(json, request) {
    const list = getList(json, 'results')
    if (!list) return 'a list of results'
    const items = list.filter(isObject).map((item) => ({ ...item, image: item.thumbnail ?? item.img_src }))
    const names = { snippet: ['content'], date: ['publishedDate'], image: ['image'] }
    return { results: readResults(items, names, request.now), charge: {}, usage: toUsage({ search: 1 }, {}, items) }
  },
}
