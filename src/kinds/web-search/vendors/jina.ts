import { defined } from '../../../formats/canonical/values.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { listIn, objectIn, usageOf } from '../../web/answers.ts'
import { jinaError } from '../../web/jina.ts'
import { flag, line, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { amountIn } from '../../web/text.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { countFor, languageFor, pageFor, queryWithSites } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['country', 'languages', 'include', 'exclude', 'offset', 'page'] as const),
])

const OPTIONS: OptionShapes = { location: line, provider: word('google', 'bing'), noCache: flag, fallback: flag }

/** Jina takes its options in the body as well as in headers; what a client chooses freely stands in the body alone. */
export const jina: VendorForm<WebSearch, SearchResults> = {
  name: 'jina',
  providers: ['jina'],
  keyHeader: 'bearer',
  most: () => 1,
  request(search, { target, warnings }) {
    const isNews = search.type === 'news'
    noteLost(search, isNews ? new Set([...CARRIED, 'type']) : CARRIED, warnings)
    const options = vendorOptions(search.options, { names: ['jina', target.provider], shapes: OPTIONS, warnings })
    const size = countFor(search, 20, warnings)
    const { page } = search
    return {
      path: '/',
      headers: {
        accept: 'application/json',
        ...(page ? { 'x-return-format': page.format } : { 'x-respond-with': 'no-content' }),
      },
      body: {
        ...options,
        ...defined({
          q: queryWithSites(search),
          num: size,
          gl: search.country?.toLowerCase(),
          hl: languageFor(search, warnings)?.toLowerCase(),
          page: pageFor(search, size, { first: 1, warnings }),
          type: isNews ? 'news' : undefined,
        }),
      },
    }
  },
  answer(json, search) {
    const list = listIn(json, 'data')
    if (!list) return 'a list of results'
    const names = {
      snippet: ['description', 'snippet'],
      date: ['date', 'publishedTime'],
      content: ['content', 'html', 'text'],
    }
    const spent = { tokens: tokensOf(json, list) }
    return {
      results: resultsIn(list, names, search.now),
      spent,
      usage: usageOf({ search: 1 }, spent),
    }
  },
  errorIn: jinaError,
}

/** Of the whole search, else of its pages. */
function tokensOf(json: JsonObject, list: readonly unknown[]): number | undefined {
  const whole = amountIn(objectIn(objectIn(json, 'meta'), 'usage').tokens)
  const pages = list.filter(isObject).flatMap((item) => amountIn(objectIn(item, 'usage').tokens) ?? [])
  return whole ?? (pages.length > 0 ? pages.reduce((sum, one) => sum + one, 0) : undefined)
}
