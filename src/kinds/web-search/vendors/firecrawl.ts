import { defined } from '../../../formats/canonical/values.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { formatAmong, listIn, objectIn, usageOf } from '../../web/answers.ts'
import { firecrawlError } from '../../web/firecrawl.ts'
import { count, flag, line, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { countFor, googleTimes, pageFormatFor, queryWithSites } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['country', 'recency', 'after', 'before', 'include', 'exclude', 'page'] as const),
])

const OPTIONS: OptionShapes = {
  categories: (value) =>
    Array.isArray(value) && value.length <= 4 && value.every(word('github', 'research', 'pdf', 'developer')),
  location: line,
  timeout: count(1_000, 300_000),
  ignoreInvalidURLs: flag,
  highlights: flag,
}

const FORMATS = ['markdown', 'html'] as const

export const firecrawl: VendorForm<WebSearch, SearchResults> = {
  name: 'firecrawl',
  providers: ['firecrawl'],
  keyHeader: 'bearer',
  most: () => 1,
  request(search, { target, warnings }) {
    const isNews = search.type === 'news'
    noteLost(search, isNews ? new Set([...CARRIED, 'type']) : CARRIED, warnings)
    const options = vendorOptions(search.options, { names: ['firecrawl', target.provider], shapes: OPTIONS, warnings })
    const { include, exclude } = search
    const format = pageFormatFor(search, FORMATS, warnings)
    const areBoth = include.length > 0 && exclude.length > 0 // which Firecrawl refuses
    return {
      path: '/search',
      body: {
        ...options,
        ...defined({
          query: areBoth ? queryWithSites({ ...search, include: [] }) : search.queries[0],
          limit: countFor(search, 100, warnings),
          sources: isNews ? ['news'] : undefined,
          includeDomains: include.length > 0 ? include : undefined,
          excludeDomains: exclude.length > 0 && !areBoth ? exclude : undefined,
          country: search.country,
          tbs: googleTimes(search, warnings),
          scrapeOptions: format && { formats: [format] },
        }),
      },
    }
  },
  answer(json, search) {
    const data = objectIn(json, 'data')
    const list = [...(listIn(data, 'web') ?? []), ...(listIn(data, 'news') ?? [])]
    if (!isObject(json.data)) return 'a list of results'
    const names = {
      snippet: ['description', 'snippet'],
      date: ['date'],
      content: ['markdown', 'html'],
      image: ['imageUrl'],
    }
    const spent = { credits: amountIn(json.creditsUsed) }
    return {
      id: wordsIn(json.id),
      results: resultsIn(list.filter(isObject).map(withMetadata), names, search.now),
      pageFormat: search.page && formatAmong(search.page.format, FORMATS),
      spent,
      usage: usageOf({ search: 1 }, spent),
    }
  },
  errorIn: firecrawlError,
}

/** A result with what a scraped page says of itself, where the search says nothing. */
const withMetadata = (item: JsonObject): JsonObject => {
  const { title, description, url, sourceURL, publishedTime, favicon } = objectIn(item, 'metadata')
  return { date: publishedTime, favicon, ...defined({ title, description, url: sourceURL ?? url }), ...item }
}
