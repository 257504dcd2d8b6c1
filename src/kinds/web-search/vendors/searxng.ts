import { isObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { listIn, usageOf } from '../../web/answers.ts'
import { line, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { languageFor, pageFor, queryWithSites } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['languages', 'recency', 'include', 'exclude', 'offset'] as const),
])

const OPTIONS: OptionShapes = { safesearch: word(0, 1, 2), engines: line, categories: line }

/** About how many results a page of a server has, which decides by its settings. */
const PAGE = 10

/** A server of one's own, whose settings must allow `json` under `search.formats`. */
export const searxng: VendorForm<WebSearch, SearchResults> = {
  name: 'searxng',
  providers: ['searxng'],
  keyHeader: 'bearer',
  most: () => 1,
  request(search, { target, warnings }) {
    const isNews = search.type === 'news'
    noteLost(search, isNews ? new Set([...CARRIED, 'type']) : CARRIED, warnings)
    const options = vendorOptions(search.options, { names: ['searxng', target.provider], shapes: OPTIONS, warnings })
    const { recency } = search
    const range = recency === 'hour' ? 'day' : recency === 'week' ? 'month' : recency
    if (range !== recency) warnings.noteChanged('recency', 'replaced')
    return {
      method: 'GET',
      path: '/search',
      headers: { accept: 'application/json' },
      query: {
        ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)])),
        q: queryWithSites(search),
        format: 'json',
        language: languageFor(search, warnings),
        time_range: range,
        pageno: pageFor(search, PAGE, { first: 1, warnings }),
        ...(isNews && { categories: 'news' }),
      },
    }
  },
  answer(json, search) {
    const list = listIn(json, 'results')
    if (!list) return 'a list of results'
    const items = list.filter(isObject).map((item) => ({ ...item, image: item.thumbnail ?? item.img_src }))
    const names = { snippet: ['content'], date: ['publishedDate'], image: ['image'] }
    return { results: resultsIn(items, names, search.now), spent: {}, usage: usageOf({ search: 1 }, {}) }
  },
}
