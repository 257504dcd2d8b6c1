import { defined } from '../../../formats/canonical/values.ts'
import type { VendorForm } from '../../forms.ts'
import { listIn, usageOf } from '../../web/answers.ts'
import { flag, line, type OptionShapes, vendorOptions } from '../../web/options.ts'
import { amountIn } from '../../web/text.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { countFor, googleTimes, languageFor, pageFor, queryWithSites } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'include', 'exclude', 'offset'] as const),
])

const OPTIONS: OptionShapes = { location: line, autocorrect: flag }

/** Results of Google. */
export const serper: VendorForm<WebSearch, SearchResults> = {
  name: 'serper',
  providers: ['serper'],
  keyHeader: 'x-api-key',
  most: () => 1,
  request(search, { target, warnings }) {
    const isNews = search.type === 'news'
    noteLost(search, isNews ? new Set([...CARRIED, 'type']) : CARRIED, warnings)
    const options = vendorOptions(search.options, { names: ['serper', target.provider], shapes: OPTIONS, warnings })
    const size = countFor(search, 100, warnings)
    return {
      path: isNews ? '/news' : '/search',
      body: {
        ...options,
        ...defined({
          q: queryWithSites(search),
          num: size,
          gl: search.country?.toLowerCase(),
          hl: languageFor(search, warnings)?.toLowerCase(),
          page: pageFor(search, size, { first: 1, warnings }),
          tbs: googleTimes(search, warnings),
        }),
      },
    }
  },
  answer(json, search) {
    const list = listIn(json, 'organic') ?? listIn(json, 'news')
    if (!list && json.searchParameters === undefined) return 'a list of results'
    const names = { url: ['link'], snippet: ['snippet'], date: ['date'], image: ['imageUrl'] }
    const spent = { credits: amountIn(json.credits) }
    return {
      results: resultsIn(list ?? [], names, search.now),
      spent,
      usage: usageOf({ search: 1 }, spent),
    }
  },
}
