import type { JsonObject } from '../../../../lib/json.ts'
import { type Fields, readFields } from '../../../formats/canonical/canonical-fields.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import type { Warnings } from '../../../formats/canonical/canonical-warnings.ts'
import type { ClientAdapter, ClientReadContext } from '../../kind-adapters.ts'
import { readInteger } from '../../web/web-fields.ts'
import { truncateText } from '../../web/web-text.ts'
import { parsePageUrl } from '../page-url.ts'
import type { FetchedPage, FetchRequest, FetchResponse } from '../web-fetch.ts'

const MAX_URLS = 20

/** The gateway's own API, because vendors don't share one. */
export const fetchClient: ClientAdapter<FetchRequest, FetchResponse> = {
  read: readRequest,
  write({ id, pages, failed, format, charge }, { request, provider, model, newId }): JsonObject {
    const usage = omitUndefined({
      fetches: request.urls.length,
      credits: charge.credits,
      tokens: charge.tokens,
      cost: charge.costUsd,
    })
    const writtenPages = sortPages(pages, request.urls).map((page) =>
      writePage(page, { ...request, format: format ?? request.format }),
    )
    const commonFields = { id: id ?? `fetch_${newId()}`, object: 'web.fetch', model: `${provider}/${model}` }
    if (!request.isList) return { ...commonFields, ...writtenPages[0], usage }
    const knownUrls = new Set([...pages, ...failed].map(({ url }) => url))
    const missingUrls = request.urls.filter((url) => !knownUrls.has(url) && knownUrls.size < request.urls.length)
    const failures = [...failed, ...missingUrls.map((url) => ({ url, error: 'The provider returned nothing for it.' }))]
    return {
      ...commonFields,
      results: writtenPages,
      failed: failures.map(({ url, error }) => ({ url: request.spellings.get(url) ?? url, error })),
      usage,
    }
  },
}

/** Sorts pages in the order of the client's URLs. Pages with unknown URLs come last. */
function sortPages(pages: readonly FetchedPage[], urls: readonly string[]): readonly FetchedPage[] {
  const getIndex = ({ url }: FetchedPage) => (urls.includes(url) ? urls.indexOf(url) : urls.length)
  return [...pages].sort((a, b) => getIndex(a) - getIndex(b))
}

function writePage(
  page: FetchedPage,
  { spellings, format, maxCharacters, includeLinks, includeImages }: FetchRequest,
): JsonObject {
  const { url, title, text, author, publishedAt, language, statusCode, contentType } = page
  return omitUndefined({
    url: spellings.get(url) ?? url,
    title,
    content: { format, ...truncateText(text, maxCharacters) },
    links: includeLinks && (page.links ?? []),
    images: includeImages && (page.images ?? []),
    metadata: omitUndefined({
      author,
      published_at: publishedAt,
      language,
      status_code: statusCode,
      content_type: contentType,
    }),
  })
}

/** Reads a request. Unknown fields are reported as dropped. */
function readRequest(body: JsonObject, { warnings }: ClientReadContext): FetchRequest {
  const fields = readFields(body, '', warnings)
  fields.ignore('model', 'provider', 'stream')
  const request: FetchRequest = {
    ...readUrls(fields, warnings),
    format: fields.oneOf('format', ['markdown', 'html', 'text']) ?? 'markdown',
  }
  const optionalFields = {
    maxCharacters: readInteger(fields, 'max_characters', [1, 1_000_000], warnings),
    timeoutMs: readInteger(fields, 'timeout_ms', [1, 180_000], warnings),
    maxAgeSeconds: readInteger(fields, 'fresh', [0, 315_360_000], warnings),
    includeLinks: fields.boolean('include_links') || undefined,
    includeImages: fields.boolean('include_images') || undefined,
    options: fields.object('provider_options'),
  }
  fields.dropUnread()
  return { ...request, ...omitUndefined<Partial<FetchRequest>>(optionalFields) }
}

function readUrls(fields: Fields, warnings: Warnings): Pick<FetchRequest, 'urls' | 'isList' | 'spellings'> {
  const url = fields.string('url')
  const urlList = fields.strings('urls')
  if (url !== undefined && urlList) warnings.reject('urls', 'cannot be combined with "url". Send only one of them.')
  const urls = urlList ?? (url === undefined ? [] : [url])
  if (urls.length === 0 || urls.length > MAX_URLS)
    warnings.reject(urlList ? 'urls' : 'url', `is required: a page URL, or 1 to ${MAX_URLS} of them in "urls".`)
  const spellings = new Map<string, string>()
  urls.forEach((text, index) => {
    const parsedUrl = parsePageUrl(text.trim())
    if (parsedUrl.problem !== undefined) warnings.reject(urlList ? `urls[${index}]` : 'url', parsedUrl.problem)
    else spellings.set(parsedUrl.href, text)
  })
  return { urls: [...spellings.keys()], isList: urlList !== undefined, spellings }
}
