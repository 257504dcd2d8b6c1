import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, isPageStatus, pickFormat, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import {
  chooseFormat,
  createFailureError,
  createMissingPage,
  createResponse,
  type FetchRequest,
  type FetchResponse,
  filterStrings,
  matchUrl,
  type PageFailures,
} from '../web-fetch.ts'

const OPTIONS: OptionChecks = { livecrawl: isOneOf('never', 'fallback', 'preferred', 'always', 'auto') }

const FORMATS = ['text', 'html'] as const

/** The maximum number of links and images per page. */
const MAX_LINKS = 100

export const exa: VendorAdapter<FetchRequest, FetchResponse> = {
  name: 'exa',
  providers: ['exa'],
  keyHeader: 'x-api-key',
  writeRequest(request, { target, warnings }) {
    const { urls, timeoutMs, maxAgeSeconds, includeLinks, includeImages } = request
    const options = readVendorOptions(request.options, { names: ['exa', target.provider], checks: OPTIONS, warnings })
    const isHtml = chooseFormat(request, FORMATS, warnings) === 'html'
    const extras = omitUndefined({ links: includeLinks && MAX_LINKS, imageLinks: includeImages && MAX_LINKS })
    return {
      path: '/contents',
      body: {
        ...options,
        ...omitUndefined({
          urls,
          text: isHtml ? { includeHtmlTags: true } : true,
          livecrawlTimeout: timeoutMs,
          maxAgeHours: maxAgeSeconds === undefined ? undefined : Math.floor(maxAgeSeconds / 3_600),
          extras: Object.keys(extras).length > 0 ? extras : undefined,
        }),
      },
    }
  },
  readResponse(json, { urls, format }) {
    const list = getList(json, 'results')
    if (!list) return 'a list of results'
    const failures = readFailures(json, urls)
    const pages = list.filter(isObject).map((item, index) => {
      const extras = getObject(item, 'extras')
      return {
        url: matchUrl(getText(item.id) ?? getText(item.url), urls, index),
        title: getText(item.title),
        text: getText(item.text) ?? '',
        links: filterStrings(getList(extras, 'links')),
        images: filterStrings(getList(extras, 'imageLinks')),
        author: getText(item.author),
        publishedAt: getText(item.publishedDate),
      }
    })
    const charge = { costUsd: getAmount(getObject(json, 'costDollars').total) }
    return createResponse(pages, failures, {
      id: getText(json.requestId),
      format: pickFormat(format, FORMATS),
      charge,
      usage: toUsage({ page: urls.length }, charge, pages),
    })
  },
  findError: (json, { urls }) =>
    getList(json, 'results')?.length ? undefined : createFailureError('Exa', readFailures(json, urls)),
}

function readFailures(json: JsonObject, urls: readonly string[]): PageFailures {
  const failedPages = (getList(json, 'statuses') ?? [])
    .filter(isObject)
    .filter(({ status }) => status === 'error')
    .map((item, index) => {
      const { tag, httpStatusCode } = getObject(item, 'error')
      const url = matchUrl(getText(item.id), urls, index)
      const status = tag === 'CRAWL_NOT_FOUND' ? 404 : (getAmount(httpStatusCode) ?? 500)
      return { url, status, error: getText(tag) ?? 'It gave no reason.' }
    })
  return {
    missing: failedPages
      .filter(({ status }) => isPageStatus(status))
      .map(({ url, status }) => createMissingPage(url, status)),
    failed: failedPages.filter(({ status }) => !isPageStatus(status)).map(({ url, error }) => ({ url, error })),
  }
}
