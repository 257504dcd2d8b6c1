import { type Fields, fieldsOf } from '../../../formats/canonical/fields.ts'
import { defined } from '../../../formats/canonical/values.ts'
import type { Warnings } from '../../../formats/canonical/warnings.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { ClientForm, ReadTerms } from '../../forms.ts'
import { whole } from '../../web/fields.ts'
import { cutText } from '../../web/text.ts'
import type { FetchedPage, FetchedPages, WebFetch } from '../fetch.ts'
import { pageAddress } from '../page-address.ts'

const MOST_URLS = 20

/** A form of its own, since vendors have none in common. */
export const fetchClient: ClientForm<WebFetch, FetchedPages> = {
  read: readFetch,
  write({ id, pages, failed, format, spent }, { asked, provider, model, newId }): JsonObject {
    const usage = defined({
      fetches: asked.urls.length,
      credits: spent.credits,
      tokens: spent.tokens,
      cost: spent.costUsd,
    })
    const all = inOrder(pages, asked.urls).map((page) => written(page, { ...asked, format: format ?? asked.format }))
    const base = { id: id ?? `fetch_${newId()}`, object: 'web.fetch', model: `${provider}/${model}` }
    if (!asked.isList) return { ...base, ...all[0], usage }
    const known = new Set([...pages, ...failed].map(({ url }) => url))
    const lost = asked.urls.filter((url) => !known.has(url) && known.size < asked.urls.length)
    const failures = [...failed, ...lost.map((url) => ({ url, error: 'The provider has sent nothing for it.' }))]
    return {
      ...base,
      results: all,
      failed: failures.map(({ url, error }) => ({ url: asked.spelling.get(url) ?? url, error })),
      usage,
    }
  },
}

/** The pages in the order of the client's list, as far as they are known by its addresses. */
function inOrder(pages: readonly FetchedPage[], urls: readonly string[]): readonly FetchedPage[] {
  const placeOf = ({ url }: FetchedPage) => (urls.includes(url) ? urls.indexOf(url) : urls.length)
  return [...pages].sort((one, other) => placeOf(one) - placeOf(other))
}

function written(page: FetchedPage, { spelling, format, maxCharacters, links, images }: WebFetch): JsonObject {
  const { url, title, text, author, publishedAt, language, statusCode, contentType } = page
  return defined({
    url: spelling.get(url) ?? url,
    title,
    content: { format, ...cutText(text, maxCharacters) },
    links: links && (page.links ?? []),
    images: images && (page.images ?? []),
    metadata: defined({
      author,
      published_at: publishedAt,
      language,
      status_code: statusCode,
      content_type: contentType,
    }),
  })
}

/** Reads the body of a request for pages. Throws `INVALID_REQUEST` with the name of the field; members that no request has are noted as dropped. */
function readFetch(body: JsonObject, { warnings }: ReadTerms): WebFetch {
  const fields = fieldsOf(body, '', warnings)
  fields.ignore('model', 'provider', 'stream')
  const fetch: WebFetch = {
    ...urlsIn(fields, warnings),
    format: fields.word('format', ['markdown', 'html', 'text']) ?? 'markdown',
  }
  const more = {
    maxCharacters: whole(fields, 'max_characters', [1, 1_000_000], warnings),
    timeoutMs: whole(fields, 'timeout_ms', [1, 180_000], warnings),
    fresh: whole(fields, 'fresh', [0, 315_360_000], warnings),
    links: fields.flag('include_links') || undefined,
    images: fields.flag('include_images') || undefined,
    options: fields.object('provider_options'),
  }
  fields.drop()
  return { ...fetch, ...defined<Partial<WebFetch>>(more) }
}

function urlsIn(fields: Fields, warnings: Warnings): Pick<WebFetch, 'urls' | 'isList' | 'spelling'> {
  const one = fields.text('url')
  const several = fields.texts('urls')
  if (one !== undefined && several) warnings.refuse('urls', 'stands beside "url"; give one of the two.')
  const urls = several ?? (one === undefined ? [] : [one])
  if (urls.length === 0 || urls.length > MOST_URLS)
    warnings.refuse(
      several ? 'urls' : 'url',
      `is required: the address of a page, or 1 to ${MOST_URLS} of them in "urls".`,
    )
  const spelling = new Map<string, string>()
  urls.forEach((text, at) => {
    const found = pageAddress(text.trim())
    if (found.problem !== undefined) warnings.refuse(several ? `urls[${at}]` : 'url', found.problem)
    else spelling.set(found.href, text)
  })
  return { urls: [...spelling.keys()], isList: several !== undefined, spelling }
}
