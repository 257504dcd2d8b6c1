import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import { readCost } from '../../../formats/canonical/reported-cost.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import { type FetchedPage, type FetchRequest, type FetchResponse, filterStrings } from '../web-fetch.ts'

/** Other gateways with the same API as this one. */
export const gateway: VendorAdapter<FetchRequest, FetchResponse> = {
  name: 'gateway',
  writeRequest(request, { target, warnings }) {
    const { urls, isList, format, maxCharacters, timeoutMs, maxAgeSeconds, includeLinks, includeImages } = request
    readVendorOptions(request.options, { names: [target.provider], checks: {}, warnings }) // some gateways read URLs from these options
    return {
      path: '/web/fetch',
      body: omitUndefined({
        model: target.model,
        url: isList ? undefined : urls[0],
        urls: isList ? urls : undefined,
        format,
        max_characters: maxCharacters,
        timeout_ms: timeoutMs,
        fresh: maxAgeSeconds,
        include_links: includeLinks,
        include_images: includeImages,
      }),
    }
  },
  readResponse(json, { urls: [url = ''], isList }) {
    const list = isList ? getList(json, 'results') : [json]
    const pages = list?.filter(isObject).flatMap((item) => readPage(item, url) ?? [])
    if (!pages || (!isList && pages.length === 0)) return 'the text of the page'
    const usage = getObject(json, 'usage')
    const charge = { credits: getAmount(usage.credits), tokens: getAmount(usage.tokens), ...readCost(usage) }
    const failed = (getList(json, 'failed') ?? []).filter(isObject)
    return {
      id: getText(json.id),
      model: getText(json.model),
      pages,
      failed: failed.map((item) => ({ url: getText(item.url) ?? '', error: getText(item.error) ?? '' })),
      charge,
      usage: toUsage({ page: pages.length }, charge, pages),
    }
  },
}

function readPage(item: JsonObject, url: string): FetchedPage | undefined {
  const { text } = getObject(item, 'content')
  if (typeof text !== 'string') return undefined
  const metadata = getObject(item, 'metadata')
  return {
    url: getText(item.url) ?? url,
    title: getText(item.title),
    text,
    links: filterStrings(getList(item, 'links')),
    images: filterStrings(getList(item, 'images')),
    author: getText(metadata.author),
    publishedAt: getText(metadata.published_at),
    language: getText(metadata.language),
    statusCode: getAmount(metadata.status_code),
    contentType: getText(metadata.content_type),
  }
}
