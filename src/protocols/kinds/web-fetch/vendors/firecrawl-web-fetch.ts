import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { findFirecrawlError } from '../../web/firecrawl-web.ts'
import { isBoolean, isInteger, isLineList, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { createPageError, getList, getObject, isPageStatus, pickFormat, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import { chooseFormat, type FetchRequest, type FetchResponse, filterStrings } from '../web-fetch.ts'

const OPTIONS: OptionChecks = {
  blockAds: isBoolean,
  excludeTags: isLineList,
  includeTags: isLineList,
  mobile: isBoolean,
  onlyMainContent: isBoolean,
  removeBase64Images: isBoolean,
  storeInCache: isBoolean,
  waitFor: isInteger(0, 60_000),
}

const FORMATS = ['markdown', 'html'] as const

export const firecrawl: VendorAdapter<FetchRequest, FetchResponse> = {
  name: 'firecrawl',
  providers: ['firecrawl'],
  keyHeader: 'bearer',
  getMaxEntries: () => 1,
  writeRequest(request, { target, warnings }) {
    const { urls, timeoutMs, maxAgeSeconds, includeLinks, includeImages } = request
    const options = readVendorOptions(request.options, {
      names: ['firecrawl', target.provider],
      checks: OPTIONS,
      warnings,
    })
    const formats = [
      chooseFormat(request, FORMATS, warnings),
      ...(includeLinks ? ['links'] : []),
      ...(includeImages ? ['images'] : []),
    ]
    const maxAge = maxAgeSeconds === undefined ? undefined : maxAgeSeconds * 1_000
    return {
      path: '/scrape',
      body: { ...options, ...omitUndefined({ url: urls[0], formats, timeout: timeoutMs, maxAge }) },
    }
  },
  readResponse(json, { urls, format }) {
    const [url = ''] = urls
    const data = getObject(json, 'data')
    const metadata = getObject(data, 'metadata')
    const pageFormat = pickFormat(format, FORMATS)
    const text = data[pageFormat]
    const status = getAmount(metadata.statusCode)
    if (typeof text !== 'string' && status === undefined) return 'the text of the page'
    const charge = { credits: getAmount(metadata.creditsUsed) ?? getAmount(json.creditsUsed) }
    const isFailed = status !== undefined && !isPageStatus(status)
    const commonFields = { format: pageFormat, charge, usage: toUsage({ page: 1 }, charge, isFailed ? [] : [text]) }
    if (isFailed) return { pages: [], failed: [{ url, error: writeStatusError(status) }], ...commonFields }
    const page = {
      url,
      title: getText(metadata.title),
      text: typeof text === 'string' ? text : '',
      links: filterStrings(getList(data, 'links')),
      images: filterStrings(getList(data, 'images')),
      author: getText(metadata.author),
      publishedAt: getText(metadata.publishedTime),
      language: getText(metadata.language),
      statusCode: status,
      contentType: getText(metadata.contentType),
    }
    return { id: getText(metadata.scrapeId), pages: [page], failed: [], ...commonFields }
  },
  findError(json, { isPartialRequest }) {
    const status = getAmount(getObject(getObject(json, 'data'), 'metadata').statusCode)
    const isRejected = status !== undefined && !isPageStatus(status) && !isPartialRequest
    return findFirecrawlError(json) ?? (isRejected ? createPageError(writeStatusError(status)) : undefined)
  },
}

const writeStatusError = (status: number) => `The page returned status ${status} to Firecrawl.`
