import { defined } from '../../../formats/canonical/values.ts'
import { isObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { formatAmong, listIn, objectIn, usageOf } from '../../web/answers.ts'
import { flag, lines, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { countFor, pageFormatFor, startOf } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['country', 'recency', 'after', 'before', 'include', 'exclude', 'type', 'page'] as const),
])

const OPTIONS: OptionShapes = {
  type: word('auto', 'neural', 'keyword', 'hybrid', 'fast', 'instant'),
  category: word('company', 'publication', 'news', 'personal site', 'financial report', 'people'),
  includeText: lines,
  excludeText: lines,
  moderation: flag,
}

const FORMATS = ['text', 'html'] as const

export const exa: VendorForm<WebSearch, SearchResults> = {
  name: 'exa',
  providers: ['exa'],
  keyHeader: 'x-api-key',
  most: () => 1,
  request(search, { target, warnings }) {
    noteLost(search, CARRIED, warnings)
    const options = vendorOptions(search.options, { names: ['exa', target.provider], shapes: OPTIONS, warnings })
    const { page } = search
    const isHtml = pageFormatFor(search, FORMATS, warnings) === 'html'
    return {
      path: '/search',
      body: {
        ...options,
        ...defined({
          query: search.queries[0],
          numResults: countFor(search, 100, warnings),
          includeDomains: search.include.length > 0 ? search.include : undefined,
          excludeDomains: search.exclude.length > 0 ? search.exclude : undefined,
          startPublishedDate: startOf(search),
          endPublishedDate: search.before && `${search.before}T23:59:59.999Z`,
          userLocation: search.country,
          category: search.type === 'web' ? undefined : search.type,
          contents: { highlights: true, ...(page && { text: isHtml ? { includeHtmlTags: true } : true }) },
        }),
      },
    }
  },
  answer(json, search) {
    const list = listIn(json, 'results')
    if (!list) return 'a list of results'
    const costUsd = amountIn(objectIn(json, 'costDollars').total)
    const withSnippets = list
      .filter(isObject)
      .map((item) => ({ ...item, snippet: snippetOf(item.highlights, item.summary) }))
    const names = { snippet: ['snippet'], date: ['publishedDate'], content: ['text'], image: ['image'] }
    return {
      id: wordsIn(json.requestId),
      results: resultsIn(withSnippets, names, search.now),
      pageFormat: search.page && formatAmong(search.page.format, FORMATS),
      spent: { costUsd },
      usage: usageOf({ search: 1 }, { costUsd }),
    }
  },
}

/** The passages that fit the query best, else the summary. */
const snippetOf = (highlights: unknown, summary: unknown) =>
  Array.isArray(highlights) ? highlights.map(wordsIn).filter(Boolean).join(' … ') : summary
