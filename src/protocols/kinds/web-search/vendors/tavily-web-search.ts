import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { isBoolean, isInteger, isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, pickFormat, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import { getCountryName } from '../countries.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { chooseCount, chooseLanguage, choosePageFormat, stripRegion } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'include', 'exclude', 'page'] as const),
])

const OPTIONS: OptionChecks = {
  search_depth: isOneOf('basic', 'advanced', 'fast', 'ultra-fast'),
  topic: isOneOf('general', 'news', 'finance'),
  days: isInteger(1, 3_650),
  max_hours: isInteger(1, 100_000),
  chunks_per_source: isInteger(1, 5),
  exact_match: isBoolean,
  filter_by_language: isBoolean,
  include_domains_mode: isOneOf('restrict', 'prefer'),
  include_favicon: isBoolean,
}

const FORMATS = ['markdown', 'text'] as const

export const tavily: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'tavily',
  providers: ['tavily'],
  keyHeader: 'bearer',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    const isNews = request.type === 'news'
    recordUnsupported(request, isNews ? new Set([...SUPPORTED_FEATURES, 'type']) : SUPPORTED_FEATURES, warnings)
    const options = readVendorOptions(request.options, {
      names: ['tavily', target.provider],
      checks: OPTIONS,
      warnings,
    })
    const topic = isNews ? 'news' : options.topic
    const country = request.country && getCountryName(request.country)
    const hasCountry = country !== undefined && (topic === undefined || topic === 'general')
    if (request.country && !hasCountry) warnings.recordDrop('country')
    const language = chooseLanguage(request, warnings)
    if (request.recency === 'hour') warnings.recordChange('recency', 'replaced')
    return {
      path: '/search',
      body: {
        ...options,
        ...omitUndefined({
          query: request.queries[0],
          max_results: chooseCount(request, 20, warnings),
          topic,
          time_range: request.recency === 'hour' ? 'day' : request.recency,
          start_date: request.after,
          end_date: request.before,
          include_domains: request.include.length > 0 ? request.include.slice(0, 300) : undefined,
          exclude_domains: request.exclude.length > 0 ? request.exclude.slice(0, 150) : undefined,
          country: hasCountry ? country : undefined,
          language: language && stripRegion(language),
          include_raw_content: choosePageFormat(request, FORMATS, warnings),
          include_usage: true,
        }),
      },
    }
  },
  readResponse(json, request) {
    const list = getList(json, 'results')
    if (!list) return 'a list of results'
    const charge = { credits: getAmount(getObject(json, 'usage').credits) }
    const names = { snippet: ['content'], date: ['published_date'], content: ['raw_content'] }
    return {
      id: getText(json.request_id),
      results: readResults(list, names, request.now),
      pageFormat: request.page && pickFormat(request.page.format, FORMATS),
      charge,
      usage: toUsage({ search: 1 }, charge, list),
    }
  },
}
