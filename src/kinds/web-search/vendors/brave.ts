import { gatewayError } from '../../../errors.ts'
import type { Warnings } from '../../../formats/canonical/warnings.ts'
import { isObject } from '../../../lib/json.ts'
import { targetName } from '../../../providers/target.ts'
import type { VendorForm } from '../../forms.ts'
import { listIn, objectIn, usageOf } from '../../web/answers.ts'
import { flag, line, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { wordsIn } from '../../web/text.ts'
import { resultsIn, type SearchResults } from '../given.ts'
import { type Feature, noteLost, type WebSearch } from '../search.ts'
import { countFor, languageFor, pageFor, primaryOf, queryWithSites } from '../terms.ts'

const CARRIED: ReadonlySet<Feature> = new Set<Feature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'include', 'exclude', 'offset'] as const),
])

const OPTIONS: OptionShapes = {
  safesearch: word('off', 'moderate', 'strict'),
  spellcheck: flag,
  extra_snippets: flag,
  ui_lang: line,
  units: word('metric', 'imperial'),
  text_decorations: flag,
}

/** Brave searches on behalf of these countries; any other is an error. */
const COUNTRIES: ReadonlySet<string> = new Set(
  'AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US'.split(
    ' ',
  ),
)

/** Brave's languages; any other is an error. */
const LANGUAGES: ReadonlySet<string> = new Set(
  'ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl es sv ta te th tr uk vi'.split(
    ' ',
  ),
)
/** Brave's own names of languages. */
const RENAMED: Readonly<Record<string, string>> = {
  ja: 'jp',
  no: 'nb',
  zh: 'zh-hans',
  'zh-CN': 'zh-hans',
  'zh-TW': 'zh-hant',
  'zh-HK': 'zh-hant',
  pt: 'pt-br',
  'pt-BR': 'pt-br',
  'pt-PT': 'pt-pt',
  'en-GB': 'en-gb',
}

const MOST_CHARACTERS = 400
const MOST_WORDS = 50
const MOST_PAGE = 9

export const brave: VendorForm<WebSearch, SearchResults> = {
  name: 'brave',
  providers: ['brave'],
  keyHeader: 'x-subscription-token',
  most: () => 1,
  request(search, { target, warnings }) {
    const isNews = search.type === 'news'
    noteLost(search, isNews ? new Set([...CARRIED, 'type']) : CARRIED, warnings)
    const options = vendorOptions(search.options, { names: ['brave', target.provider], shapes: OPTIONS, warnings })
    const query = queryWithSites(search, 'NOT ')
    if (query.length > MOST_CHARACTERS || query.split(/\s+/).length > MOST_WORDS)
      throw gatewayError('FORMAT_MISMATCH', {
        message: `"query": with its domains it is longer than the ${MOST_CHARACTERS} characters or ${MOST_WORDS} words that ${targetName(target)} takes.`,
        data: { param: 'query' },
      })
    const size = countFor(search, isNews ? 50 : 20, warnings)
    const page = pageFor(search, size, { first: 0, warnings })
    if (page !== undefined && page > MOST_PAGE) warnings.noteChanged('offset', 'clamped')
    const isCountry = search.country !== undefined && COUNTRIES.has(search.country)
    if (search.country && !isCountry) warnings.noteDropped('country')
    return {
      method: 'GET',
      path: isNews ? '/news/search' : '/web/search',
      headers: { accept: 'application/json' },
      query: {
        ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)])),
        q: query,
        count: size,
        offset: page && Math.min(page, MOST_PAGE),
        country: isCountry ? search.country : undefined,
        search_lang: languageOf(search, warnings),
        freshness: freshnessOf(search, warnings),
      },
    }
  },
  answer(json, search) {
    const list = listIn(json.web, 'results') ?? listIn(json, 'results')
    if (!list && json.type === undefined && json.query === undefined) return 'a list of results'
    const items = (list ?? []).filter(isObject).map((item) => ({
      ...item,
      description: [item.description, ...(listIn(item, 'extra_snippets') ?? [])]
        .map(wordsIn)
        .filter(Boolean)
        .join('\n'),
      image: objectIn(item, 'thumbnail').src,
      favicon: objectIn(item, 'meta_url').favicon,
      author: objectIn(item, 'profile').name,
    }))
    const names = { snippet: ['description'], date: ['page_age', 'age'], image: ['image'] }
    return { results: resultsIn(items, names, search.now), spent: {}, usage: usageOf({ search: 1 }, {}) }
  },
}

function languageOf(search: WebSearch, warnings: Warnings): string | undefined {
  const language = languageFor(search, warnings)
  if (language === undefined) return undefined
  const own = RENAMED[language] ?? RENAMED[primaryOf(language)] ?? primaryOf(language)
  if (LANGUAGES.has(own) || Object.values(RENAMED).includes(own)) return own
  warnings.noteDropped('languages')
  return undefined
}

/** `pw`, or a range of days, which is never open at an end. */
function freshnessOf({ recency, after, before, now }: WebSearch, warnings: Warnings): string | undefined {
  if (after || before) {
    if (recency) warnings.noteDropped('recency')
    return `${after ?? '1970-01-01'}to${before ?? new Date(now).toISOString().slice(0, 10)}`
  }
  if (recency === 'hour') warnings.noteChanged('recency', 'replaced')
  return recency && `p${recency === 'hour' ? 'd' : recency[0]}`
}
