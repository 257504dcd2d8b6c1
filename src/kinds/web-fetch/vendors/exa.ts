import { defined } from '../../../formats/canonical/values.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { formatAmong, isOfPage, listIn, objectIn, usageOf } from '../../web/answers.ts'
import { type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import {
  errorOfFailures,
  type FetchedPages,
  formatFor,
  missingPage,
  nameOf,
  type PageFailures,
  pagesWith,
  textsIn,
  type WebFetch,
} from '../fetch.ts'

const OPTIONS: OptionShapes = { livecrawl: word('never', 'fallback', 'preferred', 'always', 'auto') }

const FORMATS = ['text', 'html'] as const

/** How many links and images of a page are asked for. */
const MOST_LINKS = 100

export const exa: VendorForm<WebFetch, FetchedPages> = {
  name: 'exa',
  providers: ['exa'],
  keyHeader: 'x-api-key',
  request(fetch, { target, warnings }) {
    const { urls, timeoutMs, fresh, links, images } = fetch
    const options = vendorOptions(fetch.options, { names: ['exa', target.provider], shapes: OPTIONS, warnings })
    const isHtml = formatFor(fetch, FORMATS, warnings) === 'html'
    const extras = defined({ links: links && MOST_LINKS, imageLinks: images && MOST_LINKS })
    return {
      path: '/contents',
      body: {
        ...options,
        ...defined({
          urls,
          text: isHtml ? { includeHtmlTags: true } : true,
          livecrawlTimeout: timeoutMs,
          maxAgeHours: fresh === undefined ? undefined : Math.floor(fresh / 3_600),
          extras: Object.keys(extras).length > 0 ? extras : undefined,
        }),
      },
    }
  },
  answer(json, { urls, format }) {
    const list = listIn(json, 'results')
    if (!list) return 'a list of results'
    const failures = failuresIn(json, urls)
    const pages = list.filter(isObject).map((item, at) => {
      const extras = objectIn(item, 'extras')
      return {
        url: nameOf(wordsIn(item.id) ?? wordsIn(item.url), urls, at),
        title: wordsIn(item.title),
        text: wordsIn(item.text) ?? '',
        links: textsIn(listIn(extras, 'links')),
        images: textsIn(listIn(extras, 'imageLinks')),
        author: wordsIn(item.author),
        publishedAt: wordsIn(item.publishedDate),
      }
    })
    const spent = { costUsd: amountIn(objectIn(json, 'costDollars').total) }
    return pagesWith(pages, failures, {
      id: wordsIn(json.requestId),
      format: formatAmong(format, FORMATS),
      spent,
      usage: usageOf({ page: urls.length }, spent),
    })
  },
  errorIn: (json, { urls }) =>
    listIn(json, 'results')?.length ? undefined : errorOfFailures('Exa', failuresIn(json, urls)),
}

function failuresIn(json: JsonObject, urls: readonly string[]): PageFailures {
  const all = (listIn(json, 'statuses') ?? [])
    .filter(isObject)
    .filter(({ status }) => status === 'error')
    .map((item, at) => {
      const { tag, httpStatusCode } = objectIn(item, 'error')
      const url = nameOf(wordsIn(item.id), urls, at)
      const status = tag === 'CRAWL_NOT_FOUND' ? 404 : (amountIn(httpStatusCode) ?? 500)
      return { url, status, error: wordsIn(tag) ?? 'It says nothing more.' }
    })
  return {
    gone: all.filter(({ status }) => isOfPage(status)).map(({ url, status }) => missingPage(url, status)),
    failed: all.filter(({ status }) => !isOfPage(status)).map(({ url, error }) => ({ url, error })),
  }
}
