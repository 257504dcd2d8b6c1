import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { findJinaError } from '../../web/jina-web.ts'
import { isBoolean, isLine, isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, toUsage } from '../../web/web-responses.ts'
import { getAmount } from '../../web/web-text.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { addSiteOperators, chooseCount, chooseLanguage, choosePage } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['country', 'languages', 'include', 'exclude', 'offset', 'page'] as const),
])

const OPTIONS: OptionChecks = {
  location: isLine,
  provider: isOneOf('google', 'bing'),
  noCache: isBoolean,
  fallback: isBoolean,
}

/** Jina accepts options in the body and in headers. Free text from the client only goes in the body. */
export const jina: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'jina',
  providers: ['jina'],
  keyHeader: 'bearer',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    const isNews = request.type === 'news'
    recordUnsupported(request, isNews ? new Set([...SUPPORTED_FEATURES, 'type']) : SUPPORTED_FEATURES, warnings)
    const options = readVendorOptions(request.options, { names: ['jina', target.provider], checks: OPTIONS, warnings })
    const resultCount = chooseCount(request, 20, warnings)
    const { page } = request
    return {
      path: '/',
      headers: {
        accept: 'application/json',
        ...(page ? { 'x-return-format': page.format } : { 'x-respond-with': 'no-content' }),
      },
      body: {
        ...options,
        ...omitUndefined({
          q: addSiteOperators(request),
          num: resultCount,
          gl: request.country?.toLowerCase(),
          hl: chooseLanguage(request, warnings)?.toLowerCase(),
          page: choosePage(request, resultCount, { first: 1, warnings }),
          type: isNews ? 'news' : undefined,
        }),
      },
    }
  },
  readResponse(json, request) {
    const list = getList(json, 'data')
    if (!list) return 'a list of results'
    const names = {
      snippet: ['description', 'snippet'],
      date: ['date', 'publishedTime'],
      content: ['content', 'html', 'text'],
    }
    const charge = { tokens: countTokens(json, list) }
    return {
      results: readResults(list, names, request.now),
      charge,
      usage: toUsage({ search: 1 }, charge, list),
    }
  },
  findError: findJinaError,
}

/** Reads the entire search's token count, or adds up the counts of its pages. */
function countTokens(json: JsonObject, list: readonly unknown[]): number | undefined {
  const totalTokens = getAmount(getObject(getObject(json, 'meta'), 'usage').tokens)
  const pageTokens = list.filter(isObject).flatMap((item) => getAmount(getObject(item, 'usage').tokens) ?? [])
  return totalTokens ?? (pageTokens.length > 0 ? pageTokens.reduce((sum, tokens) => sum + tokens, 0) : undefined)
}
