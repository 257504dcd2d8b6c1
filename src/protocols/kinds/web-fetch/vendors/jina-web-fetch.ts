import { isObject, type JsonObject } from '../../../../lib/json.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { findJinaError } from '../../web/jina-web.ts'
import {
  isBoolean,
  isInteger,
  isLine,
  isLineList,
  isOneOf,
  type OptionChecks,
  readVendorOptions,
} from '../../web/web-options.ts'
import { createPageError, getObject, isPageStatus, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import type { FetchRequest, FetchResponse } from '../web-fetch.ts'

const OPTIONS: OptionChecks = {
  engine: isOneOf('browser', 'direct'),
  locale: isLine,
  noGfm: isBoolean,
  removeSelector: (value) => isLine(value) || isLineList(value),
  retainImages: isOneOf('none', 'all', 'alt'),
  targetSelector: (value) => isLine(value) || isLineList(value),
  tokenBudget: isInteger(1, 10_000_000),
  waitForSelector: (value) => isLine(value) || isLineList(value),
  withIframe: isBoolean,
  withShadowDom: isBoolean,
}

/**
 * Jina's Reader accepts options in the body and in headers. Free text from the client only goes in the body. The URL does too, because a `GET` would
 * put it in the path.
 */
export const jina: VendorAdapter<FetchRequest, FetchResponse> = {
  name: 'jina',
  providers: ['jina'],
  keyHeader: 'bearer',
  getMaxEntries: () => 1,
  writeRequest({ urls, format, timeoutMs, maxAgeSeconds, includeLinks, includeImages, options }, { target, warnings }) {
    const [url] = urls
    return {
      path: '/',
      headers: {
        accept: 'application/json',
        'x-return-format': format,
        ...(timeoutMs !== undefined && { 'x-timeout': String(Math.ceil(timeoutMs / 1_000)) }),
        ...(maxAgeSeconds === 0 && { 'x-no-cache': 'true' }),
        ...(maxAgeSeconds !== undefined && maxAgeSeconds > 0 && { 'x-cache-tolerance': String(maxAgeSeconds) }),
        ...(includeLinks && { 'x-with-links-summary': 'true' }),
        ...(includeImages && { 'x-with-images-summary': 'true' }),
      },
      body: { ...readVendorOptions(options, { names: ['jina', target.provider], checks: OPTIONS, warnings }), url },
    }
  },
  readResponse(json, { urls, format }) {
    const [url = ''] = urls
    const data = getObject(json, 'data')
    const text = data.content ?? data[format] ?? data.text
    const status = readStatus(data, text)
    if (typeof text !== 'string' && status === undefined) return 'the text of the page'
    const charge = {
      tokens:
        getAmount(getObject(data, 'usage').tokens) ?? getAmount(getObject(getObject(json, 'meta'), 'usage').tokens),
    }
    const isFailed = status !== undefined && !isPageStatus(status)
    const usage = toUsage({ page: 1 }, charge, isFailed ? [] : [text])
    if (isFailed) return { pages: [], failed: [{ url, error: writeStatusError(status) }], charge, usage }
    const page = {
      url,
      title: getText(data.title),
      text: typeof text === 'string' ? text : '',
      links: readUrls(data.links),
      images: readUrls(data.images),
      publishedAt: getText(data.publishedTime),
      language: getText(getObject(data, 'metadata').lang),
      statusCode: status ?? 200,
    }
    return { pages: [page], failed: [], charge, usage }
  },
  findError(json, { isPartialRequest }) {
    const data = getObject(json, 'data')
    const status = readStatus(data, data.content)
    const isRejected = status !== undefined && !isPageStatus(status) && !isPartialRequest
    return findJinaError(json) ?? (isRejected ? createPageError(writeStatusError(status)) : undefined)
  },
}

const writeStatusError = (status: number) => `The page returned status ${status} to Jina.`

/** Reads a page's error status from Jina's warning, which is in a separate field or at the beginning of the text. */
function readStatus(data: JsonObject, text: unknown): number | undefined {
  const [, status] =
    STATUS_WARNING_PATTERN.exec(getText(data.warning) ?? '') ??
    STATUS_TEXT_PATTERN.exec(typeof text === 'string' ? text : '') ??
    []
  return status === undefined ? undefined : Number(status)
}

const STATUS_WARNING_PATTERN = /Target URL returned error (\d{3})\b/
const STATUS_TEXT_PATTERN =
  /^(?:Title: [^\n]{0,1000}\n{1,2})?(?:URL Source: [^\n]{0,3000}\n{1,2})?Warning: Target URL returned error (\d{3})\b/

/** Reads a summary of URLs, which is an object keyed by link text, or a list of pairs. */
function readUrls(summary: unknown): string[] | undefined {
  const list = Array.isArray(summary)
    ? summary.map((pair: unknown) => (Array.isArray(pair) ? pair[1] : pair))
    : isObject(summary)
      ? Object.values(summary)
      : undefined
  return list?.filter((url): url is string => typeof url === 'string')
}
