import { defined } from '../../../formats/canonical/values.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { formatAmong, listIn, objectIn, usageOf } from '../../web/answers.ts'
import { count, line, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import {
  errorOfFailures,
  type FailedPage,
  type FetchedPages,
  formatFor,
  missingPage,
  nameOf,
  type PageFailures,
  pagesWith,
  textsIn,
  type WebFetch,
} from '../fetch.ts'

const OPTIONS: OptionShapes = {
  chunks_per_source: count(1, 5),
  extract_depth: word('basic', 'advanced'),
  query: line,
}

const FORMATS = ['markdown', 'text'] as const

/** In seconds. */
const MOST_TIMEOUT = 60

export const tavily: VendorForm<WebFetch, FetchedPages> = {
  name: 'tavily',
  providers: ['tavily'],
  keyHeader: 'bearer',
  request(fetch, { target, warnings }) {
    const { urls, timeoutMs, fresh, links, images } = fetch
    const options = vendorOptions(fetch.options, { names: ['tavily', target.provider], shapes: OPTIONS, warnings })
    if (fresh !== undefined) warnings.noteDropped('fresh')
    if (links) warnings.noteDropped('include_links')
    const timeout = timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / 1_000)
    if (timeout !== undefined && timeout > MOST_TIMEOUT) warnings.noteChanged('timeout_ms', 'clamped')
    return {
      path: '/extract',
      body: {
        ...options,
        ...defined({
          urls,
          format: formatFor(fetch, FORMATS, warnings),
          timeout: timeout && Math.min(timeout, MOST_TIMEOUT),
          include_images: images,
          include_usage: true,
        }),
      },
    }
  },
  answer(json, { urls, format }) {
    const list = listIn(json, 'results')
    if (!list) return 'a list of results'
    const failures = failuresIn(json, urls)
    const pages = list.filter(isObject).map((item, at) => ({
      url: nameOf(wordsIn(item.url), urls, at),
      title: wordsIn(item.title),
      text: wordsIn(item.raw_content) ?? '',
      images: textsIn(listIn(item, 'images')),
    }))
    const spent = { credits: amountIn(objectIn(json, 'usage').credits) }
    return pagesWith(pages, failures, {
      id: wordsIn(json.request_id),
      format: formatAmong(format, FORMATS),
      spent,
      usage: usageOf({ page: urls.length }, spent),
    })
  },
  errorIn: (json, { urls }) =>
    listIn(json, 'results')?.length ? undefined : errorOfFailures('Tavily', failuresIn(json, urls)),
}

function failuresIn(json: JsonObject, urls: readonly string[]): PageFailures {
  const all: FailedPage[] = (listIn(json, 'failed_results') ?? []).filter(isObject).map((item, at) => ({
    url: nameOf(wordsIn(item.url), urls, at),
    error: wordsIn(item.error) ?? 'It says nothing more.',
  }))
  const isGone = ({ error }: FailedPage) => GONE.test(error)
  return {
    gone: all.filter(isGone).map(({ url, error }) => missingPage(url, Number(GONE.exec(error)?.[0]))),
    failed: all.filter((page) => !isGone(page)),
  }
}

const GONE = /\b(?:404|410)\b/
