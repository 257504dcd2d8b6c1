import { defined } from '../../../formats/canonical/values.ts'
import type { VendorForm } from '../../forms.ts'
import { listIn, objectIn, usageOf } from '../../web/answers.ts'
import { vendorOptions } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { american, countFor, primaryOf } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'updatedAfter', 'updatedBefore', 'include'] as const),
  ...(['exclude', 'maxTokens', 'maxTokensPerPage', 'mode', 'contextSize', 'serverTime'] as const),
])

const MOST_DOMAINS = 20

/** Perplexity's own form, which is also that of clients. */
export const perplexity: VendorForm<WebSearch, SearchResults> = {
  name: 'perplexity',
  keyHeader: 'bearer',
  providers: ['perplexity', 'perplexity-agent'],
  request(search, { target, warnings }) {
    const isOfPeople = search.type === 'people'
    noteLost(search, isOfPeople ? new Set([...CARRIED, 'type']) : CARRIED, warnings)
    vendorOptions(search.options, { names: ['perplexity', 'pplx', target.provider], shapes: {}, warnings })
    const { queries } = search
    const domains = [...search.include, ...search.exclude.map((domain) => `-${domain}`)]
    if (domains.length > MOST_DOMAINS) warnings.noteChanged('include', 'clamped')
    return {
      path: '/search',
      body: defined({
        query: queries.length === 1 ? queries[0] : queries,
        max_results: countFor(search, 20, warnings),
        country: search.country,
        search_domain_filter: domains.length > 0 ? domains.slice(0, MOST_DOMAINS) : undefined,
        search_language_filter: search.languages?.map((language) => primaryOf(language).toLowerCase()),
        search_recency_filter: search.recency,
        search_after_date_filter: search.after && american(search.after),
        search_before_date_filter: search.before && american(search.before),
        last_updated_after_filter: search.updatedAfter && american(search.updatedAfter),
        last_updated_before_filter: search.updatedBefore && american(search.updatedBefore),
        max_tokens: search.maxTokens,
        max_tokens_per_page: search.maxTokensPerPage,
        search_mode: search.mode,
        search_context_size: search.contextSize,
        search_type: isOfPeople ? 'people' : undefined,
        display_server_time: search.serverTime,
      }),
    }
  },
  answer(json, search) {
    const list = listIn(json, 'results')
    if (!list) return 'a list of results'
    const usage = objectIn(json, 'usage')
    const spent = { costUsd: amountIn(objectIn(usage, 'cost').total_cost) ?? amountIn(usage.cost) }
    return {
      id: wordsIn(json.id),
      results: resultsIn(list, { snippet: ['snippet'], date: ['date'], lastUpdated: ['last_updated'] }, search.now),
      spent,
      serverTime: wordsIn(json.server_time),
      usage: usageOf({ search: 1 }, spent),
    }
  },
}
