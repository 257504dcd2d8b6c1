import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { isBoolean, isLine, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, toUsage } from '../../web/web-responses.ts'
import { getAmount } from '../../web/web-text.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { addSiteOperators, chooseCount, chooseLanguage, choosePage, writeGoogleTimes } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'include', 'exclude', 'offset'] as const),
])

const OPTIONS: OptionChecks = { location: isLine, autocorrect: isBoolean }

/** Serper returns Google's results. */
export const serper: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'serper',
  providers: ['serper'],
  keyHeader: 'x-api-key',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    const isNews = request.type === 'news'
    recordUnsupported(request, isNews ? new Set([...SUPPORTED_FEATURES, 'type']) : SUPPORTED_FEATURES, warnings)
    const options = readVendorOptions(request.options, {
      names: ['serper', target.provider],
      checks: OPTIONS,
      warnings,
    })
    const resultCount = chooseCount(request, 100, warnings)
    return {
      path: isNews ? '/news' : '/search',
      body: {
        ...options,
        ...omitUndefined({
          q: addSiteOperators(request),
          num: resultCount,
          gl: request.country?.toLowerCase(),
          hl: chooseLanguage(request, warnings)?.toLowerCase(),
          page: choosePage(request, resultCount, { first: 1, warnings }),
          tbs: writeGoogleTimes(request, warnings),
        }),
      },
    }
  },
  readResponse(json, request) {
    const list = getList(json, 'organic') ?? getList(json, 'news')
    if (!list && json.searchParameters === undefined) return 'a list of results'
    const names = { url: ['link'], snippet: ['snippet'], date: ['date'], image: ['imageUrl'] }
    const charge = { credits: getAmount(json.credits) }
    return {
      results: readResults(list ?? [], names, request.now),
      charge,
      usage: toUsage({ search: 1 }, charge, list ?? []),
    }
  },
}
