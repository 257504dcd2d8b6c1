import { defined } from '../../../formats/canonical/values.ts'
import type { VendorForm } from '../../forms.ts'
import { formatAmong, listIn, objectIn, usageOf } from '../../web/answers.ts'
import { count, flag, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import { countryNames } from '../countries.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { countFor, languageFor, pageFormatFor, primaryOf } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'include', 'exclude', 'page'] as const),
])

const OPTIONS: OptionShapes = {
  search_depth: word('basic', 'advanced', 'fast', 'ultra-fast'),
  topic: word('general', 'news', 'finance'),
  days: count(1, 3_650),
  max_hours: count(1, 100_000),
  chunks_per_source: count(1, 5),
  exact_match: flag,
  filter_by_language: flag,
  include_domains_mode: word('restrict', 'prefer'),
  include_favicon: flag,
}

const FORMATS = ['markdown', 'text'] as const

export const tavily: VendorForm<WebSearch, SearchResults> = {
  name: 'tavily',
  providers: ['tavily'],
  keyHeader: 'bearer',
  most: () => 1,
  request(search, { target, warnings }) {
    const isNews = search.type === 'news'
    noteLost(search, isNews ? new Set([...CARRIED, 'type']) : CARRIED, warnings)
    const options = vendorOptions(search.options, { names: ['tavily', target.provider], shapes: OPTIONS, warnings })
    const topic = isNews ? 'news' : options.topic
    const country = search.country && countryNames.get(search.country)
    const hasCountry = country !== undefined && (topic === undefined || topic === 'general')
    if (search.country && !hasCountry) warnings.noteDropped('country')
    const language = languageFor(search, warnings)
    if (search.recency === 'hour') warnings.noteChanged('recency', 'replaced')
    return {
      path: '/search',
      body: {
        ...options,
        ...defined({
          query: search.queries[0],
          max_results: countFor(search, 20, warnings),
          topic,
          time_range: search.recency === 'hour' ? 'day' : search.recency,
          start_date: search.after,
          end_date: search.before,
          include_domains: search.include.length > 0 ? search.include.slice(0, 300) : undefined,
          exclude_domains: search.exclude.length > 0 ? search.exclude.slice(0, 150) : undefined,
          country: hasCountry ? country : undefined,
          language: language && primaryOf(language),
          include_raw_content: pageFormatFor(search, FORMATS, warnings),
          include_usage: true,
        }),
      },
    }
  },
  answer(json, search) {
    const list = listIn(json, 'results')
    if (!list) return 'a list of results'
    const spent = { credits: amountIn(objectIn(json, 'usage').credits) }
    const names = { snippet: ['content'], date: ['published_date'], content: ['raw_content'] }
    return {
      id: wordsIn(json.request_id),
      results: resultsIn(list, names, search.now),
      pageFormat: search.page && formatAmong(search.page.format, FORMATS),
      spent,
      usage: usageOf({ search: 1 }, spent),
    }
  },
}
