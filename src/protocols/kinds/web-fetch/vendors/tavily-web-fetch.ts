import { isObject, type JsonObject } from '../../../../lib/json.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { VendorAdapter } from '../../kind-adapters.ts'
import { isInteger, isLine, isOneOf, type OptionChecks, readVendorOptions } from '../../web/web-options.ts'
import { getList, getObject, pickFormat, toUsage } from '../../web/web-responses.ts'
import { getAmount, getText } from '../../web/web-text.ts'
import {
  chooseFormat,
  createFailureError,
  createMissingPage,
  createResponse,
  type FailedPage,
  type FetchRequest,
  type FetchResponse,
  filterStrings,
  matchUrl,
  type PageFailures,
} from '../web-fetch.ts'

const OPTIONS: OptionChecks = {
  chunks_per_source: isInteger(1, 5),
  extract_depth: isOneOf('basic', 'advanced'),
  query: isLine,
}

const FORMATS = ['markdown', 'text'] as const

/** Tavily's maximum timeout, in seconds. */
const MAX_TIMEOUT_SECONDS = 60

export const tavily: VendorAdapter<FetchRequest, FetchResponse> = {
  name: 'tavily',
  providers: ['tavily'],
  keyHeader: 'bearer',
  writeRequest(request, { target, warnings }) {
    const { urls, timeoutMs, maxAgeSeconds, includeLinks, includeImages } = request
    const options = readVendorOptions(request.options, {
      names: ['tavily', target.provider],
      checks: OPTIONS,
      warnings,
    })
    if (maxAgeSeconds !== undefined) warnings.recordDrop('fresh')
    if (includeLinks) warnings.recordDrop('include_links')
    const timeout = timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / 1_000)
    if (timeout !== undefined && timeout > MAX_TIMEOUT_SECONDS) warnings.recordChange('timeout_ms', 'clamped')
    return {
      path: '/extract',
      body: {
        ...options,
        ...omitUndefined({
          urls,
          format: chooseFormat(request, FORMATS, warnings),
          timeout: timeout && Math.min(timeout, MAX_TIMEOUT_SECONDS),
          include_images: includeImages,
          include_usage: true,
        }),
      },
    }
  },
  readResponse(json, { urls, format }) {
    const list = getList(json, 'results')
    if (!list) return 'a list of results'
    const failures = readFailures(json, urls)
    const pages = list.filter(isObject).map((item, index) => ({
      url: matchUrl(getText(item.url), urls, index),
      title: getText(item.title),
      text: getText(item.raw_content) ?? '',
      images: filterStrings(getList(item, 'images')),
    }))
    const charge = { credits: getAmount(getObject(json, 'usage').credits) }
    return createResponse(pages, failures, {
      id: getText(json.request_id),
      format: pickFormat(format, FORMATS),
      charge,
      usage: toUsage({ page: urls.length }, charge, pages),
    })
  },
  findError: (json, { urls }) =>
    getList(json, 'results')?.length ? undefined : createFailureError('Tavily', readFailures(json, urls)),
}

function readFailures(json: JsonObject, urls: readonly string[]): PageFailures {
  const failedPages: FailedPage[] = (getList(json, 'failed_results') ?? []).filter(isObject).map((item, index) => ({
    url: matchUrl(getText(item.url), urls, index),
    error: getText(item.error) ?? 'It gave no reason.',
  }))
  const isMissingPage = ({ error }: FailedPage) => MISSING_STATUS_PATTERN.test(error)
  return {
    missing: failedPages
      .filter(isMissingPage)
      .map(({ url, error }) => createMissingPage(url, Number(MISSING_STATUS_PATTERN.exec(error)?.[0]))),
    failed: failedPages.filter((page) => !isMissingPage(page)),
  }
}

const MISSING_STATUS_PATTERN = /\b(?:404|410)\b/
