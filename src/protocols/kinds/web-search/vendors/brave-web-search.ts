import { gatewayError } from '../../../../errors.ts'
import { isObject } from '../../../../lib/json.ts'
import type { Warnings } from '../../../formats/canonical/canonical-warnings.ts'
import { getTargetName } from '../../../providers/target.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { isBoolean, isLine, isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, toUsage } from '../../web/web-responses.ts'
import { getText } from '../../web/web-text.ts'
import { recordUnsupported, type SearchFeature, type SearchRequest } from '../web-search.ts'
import { readResults, type SearchResponse } from '../web-search-results.ts'
import { addSiteOperators, chooseCount, chooseLanguage, choosePage, stripRegion } from '../web-search-terms.ts'

const SUPPORTED_FEATURES: ReadonlySet<SearchFeature> = new Set<SearchFeature>([
  ...(['country', 'languages', 'recency', 'after', 'before', 'include', 'exclude', 'offset'] as const),
])

const OPTIONS: OptionChecks = {
  safesearch: isOneOf('off', 'moderate', 'strict'),
  spellcheck: isBoolean,
  extra_snippets: isBoolean,
  ui_lang: isLine,
  units: isOneOf('metric', 'imperial'),
  text_decorations: isBoolean,
}

/** The countries that Brave supports. It rejects all others. */
const COUNTRIES: ReadonlySet<string> = new Set(
  'AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB US'.split(
    ' ',
  ),
)

/** The languages that Brave supports. It rejects all others. */
const LANGUAGES: ReadonlySet<string> = new Set(
  'ar eu bn bg ca hr cs da nl en et fi fr gl de gu he hi hu is it kn ko lv lt ms ml mr nb pl pa ro ru sr sk sl es sv ta te th tr uk vi'.split(
    ' ',
  ),
)
/** Brave's own names for languages. */
const LANGUAGE_NAMES: Readonly<Record<string, string>> = {
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

const MAX_CHARACTERS = 400
const MAX_WORDS = 50
const MAX_PAGE = 9

export const brave: VendorAdapter<SearchRequest, SearchResponse> = {
  name: 'brave',
  providers: ['brave'],
  keyHeader: 'x-subscription-token',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    const isNews = request.type === 'news'
    recordUnsupported(request, isNews ? new Set([...SUPPORTED_FEATURES, 'type']) : SUPPORTED_FEATURES, warnings)
    const options = readVendorOptions(request.options, { names: ['brave', target.provider], checks: OPTIONS, warnings })
    const query = addSiteOperators(request, 'NOT ')
    if (query.length > MAX_CHARACTERS || query.split(/\s+/).length > MAX_WORDS)
      throw gatewayError('FORMAT_MISMATCH', {
        message: `"query": together with its domains, it exceeds the ${MAX_CHARACTERS} characters or ${MAX_WORDS} words that ${getTargetName(target)} accepts.`,
        data: { param: 'query' },
      })
    const resultCount = chooseCount(request, isNews ? 50 : 20, warnings)
    const page = choosePage(request, resultCount, { first: 0, warnings })
    if (page !== undefined && page > MAX_PAGE) warnings.recordChange('offset', 'clamped')
    const isSupportedCountry = request.country !== undefined && COUNTRIES.has(request.country)
    if (request.country && !isSupportedCountry) warnings.recordDrop('country')
    return {
      method: 'GET',
      path: isNews ? '/news/search' : '/web/search',
      headers: { accept: 'application/json' },
      query: {
        ...Object.fromEntries(Object.entries(options).map(([name, value]) => [name, String(value)])),
        q: query,
        count: resultCount,
        offset: page && Math.min(page, MAX_PAGE),
        country: isSupportedCountry ? request.country : undefined,
        search_lang: getLanguage(request, warnings),
        freshness: getFreshness(request, warnings),
      },
    }
  },
  readResponse(json, request) {
    const list = getList(json.web, 'results') ?? getList(json, 'results')
    if (!list && json.type === undefined && json.query === undefined) return 'a list of results'
    const items = (list ?? []).filter(isObject).map((item) => ({
      ...item,
      description: [item.description, ...(getList(item, 'extra_snippets') ?? [])]
        .map(getText)
        .filter(Boolean)
        .join('\n'),
      image: getObject(item, 'thumbnail').src,
      favicon: getObject(item, 'meta_url').favicon,
      author: getObject(item, 'profile').name,
    }))
    const names = { snippet: ['description'], date: ['page_age', 'age'], image: ['image'] }
    return { results: readResults(items, names, request.now), charge: {}, usage: toUsage({ search: 1 }, {}, items) }
  },
}

function getLanguage(request: SearchRequest, warnings: Warnings): string | undefined {
  const language = chooseLanguage(request, warnings)
  if (language === undefined) return undefined
  const languageName = LANGUAGE_NAMES[language] ?? LANGUAGE_NAMES[stripRegion(language)] ?? stripRegion(language)
  if (LANGUAGES.has(languageName) || Object.values(LANGUAGE_NAMES).includes(languageName)) return languageName
  warnings.recordDrop('languages')
  return undefined
}

/** Writes an age such as `pw`, or a date range, which requires both a start and an end. */
function getFreshness({ recency, after, before, now }: SearchRequest, warnings: Warnings): string | undefined {
  if (after || before) {
    if (recency) warnings.recordDrop('recency')
    return `${after ?? '1970-01-01'}to${before ?? new Date(now).toISOString().slice(0, 10)}`
  }
  if (recency === 'hour') warnings.recordChange('recency', 'replaced')
  return recency && `p${recency === 'hour' ? 'd' : recency[0]}`
}
