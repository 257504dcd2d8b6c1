import { defined } from '../../../formats/canonical/values.ts'
import type { VendorForm } from '../../forms.ts'
import { formatAmong, isOfPage, listIn, objectIn, unreadablePage, usageOf } from '../../web/answers.ts'
import { firecrawlError } from '../../web/firecrawl.ts'
import { count, flag, lines, type OptionShapes, vendorOptions } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import { type FetchedPages, formatFor, textsIn, type WebFetch } from '../fetch.ts'

const OPTIONS: OptionShapes = {
  blockAds: flag,
  excludeTags: lines,
  includeTags: lines,
  mobile: flag,
  onlyMainContent: flag,
  removeBase64Images: flag,
  storeInCache: flag,
  waitFor: count(0, 60_000),
}

const FORMATS = ['markdown', 'html'] as const

export const firecrawl: VendorForm<WebFetch, FetchedPages> = {
  name: 'firecrawl',
  providers: ['firecrawl'],
  keyHeader: 'bearer',
  most: () => 1,
  request(fetch, { target, warnings }) {
    const { urls, timeoutMs, fresh, links, images } = fetch
    const options = vendorOptions(fetch.options, { names: ['firecrawl', target.provider], shapes: OPTIONS, warnings })
    const formats = [formatFor(fetch, FORMATS, warnings), ...(links ? ['links'] : []), ...(images ? ['images'] : [])]
    const maxAge = fresh === undefined ? undefined : fresh * 1_000
    return { path: '/scrape', body: { ...options, ...defined({ url: urls[0], formats, timeout: timeoutMs, maxAge }) } }
  },
  answer(json, { urls, format }) {
    const [url = ''] = urls
    const data = objectIn(json, 'data')
    const metadata = objectIn(data, 'metadata')
    const given = formatAmong(format, FORMATS)
    const text = data[given]
    const status = amountIn(metadata.statusCode)
    if (typeof text !== 'string' && status === undefined) return 'the text of the page'
    const spent = { credits: amountIn(metadata.creditsUsed) ?? amountIn(json.creditsUsed) }
    const rest = { format: given, spent, usage: usageOf({ page: 1 }, spent) }
    if (status !== undefined && !isOfPage(status))
      return { pages: [], failed: [{ url, error: refusal(status) }], ...rest }
    const page = {
      url,
      title: wordsIn(metadata.title),
      text: typeof text === 'string' ? text : '',
      links: textsIn(listIn(data, 'links')),
      images: textsIn(listIn(data, 'images')),
      author: wordsIn(metadata.author),
      publishedAt: wordsIn(metadata.publishedTime),
      language: wordsIn(metadata.language),
      statusCode: status,
      contentType: wordsIn(metadata.contentType),
    }
    return { id: wordsIn(metadata.scrapeId), pages: [page], failed: [], ...rest }
  },
  errorIn(json, { isPart }) {
    const status = amountIn(objectIn(objectIn(json, 'data'), 'metadata').statusCode)
    const isRefused = status !== undefined && !isOfPage(status) && !isPart
    return firecrawlError(json) ?? (isRefused ? unreadablePage(refusal(status)) : undefined)
  },
}

const refusal = (status: number) => `The page answered Firecrawl with status ${status}.`
