import { defined } from '../../../formats/canonical/values.ts'
import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { VendorForm } from '../../forms.ts'
import { listIn, objectIn, usageOf } from '../../web/answers.ts'
import { vendorOptions } from '../../web/options.ts'
import { amountIn, wordsIn } from '../../web/text.ts'
import { type FetchedPage, type FetchedPages, textsIn, type WebFetch } from '../fetch.ts'

/** The form of clients, as other gateways serve it. */
export const gateway: VendorForm<WebFetch, FetchedPages> = {
  name: 'gateway',
  request(fetch, { target, warnings }) {
    const { urls, isList, format, maxCharacters, timeoutMs, fresh, links, images } = fetch
    vendorOptions(fetch.options, { names: [target.provider], shapes: {}, warnings }) // some gateways read addresses in them
    return {
      path: '/web/fetch',
      body: defined({
        model: target.model,
        url: isList ? undefined : urls[0],
        urls: isList ? urls : undefined,
        format,
        max_characters: maxCharacters,
        timeout_ms: timeoutMs,
        fresh,
        include_links: links,
        include_images: images,
      }),
    }
  },
  answer(json, { urls: [url = ''], isList }) {
    const list = isList ? listIn(json, 'results') : [json]
    const pages = list?.filter(isObject).flatMap((item) => pageIn(item, url) ?? [])
    if (!pages || (!isList && pages.length === 0)) return 'the text of the page'
    const usage = objectIn(json, 'usage')
    const spent = { credits: amountIn(usage.credits), tokens: amountIn(usage.tokens), costUsd: amountIn(usage.cost) }
    const failed = (listIn(json, 'failed') ?? []).filter(isObject)
    return {
      id: wordsIn(json.id),
      model: wordsIn(json.model),
      pages,
      failed: failed.map((item) => ({ url: wordsIn(item.url) ?? '', error: wordsIn(item.error) ?? '' })),
      spent,
      usage: usageOf({ page: pages.length }, spent),
    }
  },
}

function pageIn(item: JsonObject, url: string): FetchedPage | undefined {
  const { text } = objectIn(item, 'content')
  if (typeof text !== 'string') return undefined
  const metadata = objectIn(item, 'metadata')
  return {
    url: wordsIn(item.url) ?? url,
    title: wordsIn(item.title),
    text,
    links: textsIn(listIn(item, 'links')),
    images: textsIn(listIn(item, 'images')),
    author: wordsIn(metadata.author),
    publishedAt: wordsIn(metadata.published_at),
    language: wordsIn(metadata.language),
    statusCode: amountIn(metadata.status_code),
    contentType: wordsIn(metadata.content_type),
  }
}
