import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { isOfPage, objectIn, unreadablePage, usageOf } from '../../web/answers.ts'
import { jinaError } from '../../web/jina.ts'
import { count, flag, line, lines, type OptionShapes, vendorOptions, word } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import type { FetchedPages, WebFetch } from '../fetch.ts'

const OPTIONS: OptionShapes = {
  engine: word('browser', 'direct'),
  locale: line,
  noGfm: flag,
  removeSelector: (value) => line(value) || lines(value),
  retainImages: word('none', 'all', 'alt'),
  targetSelector: (value) => line(value) || lines(value),
  tokenBudget: count(1, 10_000_000),
  waitForSelector: (value) => line(value) || lines(value),
  withIframe: flag,
  withShadowDom: flag,
}

/**
 * Jina's Reader. It takes its options in the body as well as in headers: what a client writes freely stands in the body alone, and so does the
 * address, which would be part of the path in a `GET`.
 */
export const jina: VendorForm<WebFetch, FetchedPages> = {
  name: 'jina',
  providers: ['jina'],
  keyHeader: 'bearer',
  most: () => 1,
  request({ urls, format, timeoutMs, fresh, links, images, options }, { target, warnings }) {
    const [url] = urls
    return {
      path: '/',
      headers: {
        accept: 'application/json',
        'x-return-format': format,
        ...(timeoutMs !== undefined && { 'x-timeout': String(Math.ceil(timeoutMs / 1_000)) }),
        ...(fresh === 0 && { 'x-no-cache': 'true' }),
        ...(fresh !== undefined && fresh > 0 && { 'x-cache-tolerance': String(fresh) }),
        ...(links && { 'x-with-links-summary': 'true' }),
        ...(images && { 'x-with-images-summary': 'true' }),
      },
      body: { ...vendorOptions(options, { names: ['jina', target.provider], shapes: OPTIONS, warnings }), url },
    }
  },
  answer(json, { urls, format }) {
    const [url = ''] = urls
    const data = objectIn(json, 'data')
    const text = data.content ?? data[format] ?? data.text
    const status = statusIn(data, text)
    if (typeof text !== 'string' && status === undefined) return 'the text of the page'
    const spent = {
      tokens: amountIn(objectIn(data, 'usage').tokens) ?? amountIn(objectIn(objectIn(json, 'meta'), 'usage').tokens),
    }
    const usage = usageOf({ page: 1 }, spent)
    if (status !== undefined && !isOfPage(status))
      return { pages: [], failed: [{ url, error: refusal(status) }], spent, usage }
    const page = {
      url,
      title: wordsIn(data.title),
      text: typeof text === 'string' ? text : '',
      links: addressesIn(data.links),
      images: addressesIn(data.images),
      publishedAt: wordsIn(data.publishedTime),
      language: wordsIn(objectIn(data, 'metadata').lang),
      statusCode: status ?? 200,
    }
    return { pages: [page], failed: [], spent, usage }
  },
  errorIn(json, { isPart }) {
    const data = objectIn(json, 'data')
    const status = statusIn(data, data.content)
    const isRefused = status !== undefined && !isOfPage(status) && !isPart
    return jinaError(json) ?? (isRefused ? unreadablePage(refusal(status)) : undefined)
  },
}

const refusal = (status: number) => `The page answered Jina with status ${status}.`

/** The status of a page that was not answered normally: Jina warns of it, in a member of its own or at the beginning of the text. */
function statusIn(data: JsonObject, text: unknown): number | undefined {
  const [, status] =
    WARNING.exec(wordsIn(data.warning) ?? '') ?? IN_TEXT.exec(typeof text === 'string' ? text : '') ?? []
  return status === undefined ? undefined : Number(status)
}

const WARNING = /Target URL returned error (\d{3})\b/
const IN_TEXT =
  /^(?:Title: [^\n]{0,1000}\n{1,2})?(?:URL Source: [^\n]{0,3000}\n{1,2})?Warning: Target URL returned error (\d{3})\b/

/** The addresses in a summary, which is an object of them by their texts, or a list of pairs. */
function addressesIn(summary: unknown): string[] | undefined {
  const list = Array.isArray(summary)
    ? summary.map((pair: unknown) => (Array.isArray(pair) ? pair[1] : pair))
    : isObject(summary)
      ? Object.values(summary)
      : undefined
  return list?.filter((url): url is string => typeof url === 'string')
}
