import { isObject } from '../../../../lib/json.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { isBoolean, isLineList, isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, pickFormat, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { chooseCount, choosePageFormat, getStartTime } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['country', 'recency', 'after', 'before', 'include', 'exclude', 'type', 'page'] as const),
])

const OPTIONS: OptionChecks = {
  type: isOneOf('auto', 'neural', 'keyword', 'hybrid', 'fast', 'instant'),
  category: isOneOf('company', 'publication', 'news', 'personal site', 'financial report', 'people'),
  includeText: isLineList,
  excludeText: isLineList,
  moderation: isBoolean,
}

const FORMATS = ['text', 'html'] as const

export const exa: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'exa',
  providers: ['exa'],
  keyHeader: 'x-api-key',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    recordUnsupported(request, SUPPORTED_FEATURES, warnings)
    const options = readVendorOptions(request.options, { names: ['exa', target.provider], checks: OPTIONS, warnings })
    const { page } = request
    const isHtml = choosePageFormat(request, FORMATS, warnings) === 'html'
    return {
      path: '/search',
      body: {
        ...options,
        ...omitUndefined({
          query: request.queries[0],
          numResults: chooseCount(request, 100, warnings),
          includeDomains: request.include.length > 0 ? request.include : undefined,
          excludeDomains: request.exclude.length > 0 ? request.exclude : undefined,
          startPublishedDate: getStartTime(request),
          endPublishedDate: request.before && `${request.before}T23:59:59.999Z`,
          userLocation: request.country,
          category: request.type === 'web' ? undefined : request.type,
          contents: { highlights: true, ...(page && { text: isHtml ? { includeHtmlTags: true } : true }) },
        }),
      },
    }
  },
  readResponse(json, request) {
    const list = getList(json, 'results')
    if (!list) return 'a list of results'
    const costUsd = getAmount(getObject(json, 'costDollars').total)
    const itemsWithSnippets = list
      .filter(isObject)
      .map((item) => ({ ...item, snippet: writeSnippet(item.highlights, item.summary) }))
    const names = { snippet: ['snippet'], date: ['publishedDate'], content: ['text'], image: ['image'] }
    return {
      id: getText(json.requestId),
      results: readResults(itemsWithSnippets, names, request.now),
      pageFormat: request.page && pickFormat(request.page.format, FORMATS),
      charge: { costUsd },
      usage: toUsage({ search: 1 }, { costUsd }, list),
    }
  },
}

/** Joins the passages that best match the query. If there are none, returns the summary. */
const writeSnippet = (highlights: unknown, summary: unknown) =>
  Array.isArray(highlights) ? highlights.map(getText).filter(Boolean).join(' … ') : summary
