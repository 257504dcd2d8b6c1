import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import { readCost } from '../../../formats/canonical/reported-cost.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, toUsage } from '../../web/web-responses.ts'
import { getText } from '../../web/web-text.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { chooseCount, stripRegion, toUsDate } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'updatedAfter', 'updatedBefore', 'include'] as const),
  ...(['exclude', 'maxTokens', 'maxTokensPerPage', 'mode', 'contextSize', 'serverTime'] as const),
])

const MAX_DOMAINS = 20

/** Perplexity's API, which clients of the gateway also use. */
export const perplexity: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'perplexity',
  keyHeader: 'bearer',
  providers: ['perplexity-agent'],
  writeRequest(request, { target, warnings }) {
    const searchesPeople = request.type === 'people'
    recordUnsupported(request, searchesPeople ? new Set([...SUPPORTED_FEATURES, 'type']) : SUPPORTED_FEATURES, warnings)
    readVendorOptions(request.options, { names: ['perplexity', 'pplx', target.provider], checks: {}, warnings })
    const { queries } = request
    const domains = [...request.include, ...request.exclude.map((domain) => `-${domain}`)]
    if (domains.length > MAX_DOMAINS) warnings.recordChange('include', 'clamped')
    return {
      path: '/search',
      body: omitUndefined({
        query: queries.length === 1 ? queries[0] : queries,
        max_results: chooseCount(request, 20, warnings),
        country: request.country,
        search_domain_filter: domains.length > 0 ? domains.slice(0, MAX_DOMAINS) : undefined,
        search_language_filter: request.languages?.map((language) => stripRegion(language).toLowerCase()),
        search_recency_filter: request.recency,
        search_after_date_filter: request.after && toUsDate(request.after),
        search_before_date_filter: request.before && toUsDate(request.before),
        last_updated_after_filter: request.updatedAfter && toUsDate(request.updatedAfter),
        last_updated_before_filter: request.updatedBefore && toUsDate(request.updatedBefore),
        max_tokens: request.maxTokens,
        max_tokens_per_page: request.maxTokensPerPage,
        search_mode: request.mode,
        search_context_size: request.contextSize,
        search_type: searchesPeople ? 'people' : undefined,
        display_server_time: request.serverTime,
      }),
    }
  },
  readResponse(json, request) {
    const list = getList(json, 'results')
    if (!list) return 'a list of results'
    const charge = readCost(getObject(json, 'usage'))
    return {
      id: getText(json.id),
      results: readResults(list, { snippet: ['snippet'], date: ['date'], lastUpdated: ['last_updated'] }, request.now),
      charge,
      serverTime: getText(json.server_time),
      usage: toUsage({ search: 1 }, charge, list),
    }
  },
}
