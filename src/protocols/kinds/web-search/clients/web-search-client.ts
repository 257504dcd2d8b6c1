import type { JsonObject } from '../../../../lib/json.ts'
import { type Fields, readFields } from '../../../formats/canonical/canonical-fields.ts'
import { omitUndefined } from '../../../formats/canonical/canonical-values.ts'
import { recordFieldNames, type Warnings } from '../../../formats/canonical/canonical-warnings.ts'
import type { ClientAdapter, ClientReadContext } from '../../kind-adapters.ts'
import { readInteger } from '../../web/web-fields.ts'
import { truncateText } from '../../web/web-text.ts'
import { featureNames, type Recency, type SearchRequest } from '../web-search.ts'
import type { SearchResponse, SearchResult } from '../web-search-results.ts'

const MAX_QUERIES = 5
const MAX_RESULTS = 100
const DEFAULT_RESULTS = 10
const MAX_QUERY_LENGTH = 4_000
const MAX_DOMAINS = 300
const RECENCIES = ['hour', 'day', 'week', 'month', 'year'] as const

/** Perplexity's API, with additional fields. */
export const searchClient: ClientAdapter<SearchRequest, SearchResponse> = {
  read: readRequest,
  write({ id, results, pageFormat, charge, serverTime }, { request, provider, model, newId }): JsonObject {
    return omitUndefined({
      id: id ?? `search_${newId()}`,
      object: 'search',
      model: `${provider}/${model}`,
      results: removeDuplicates(results)
        .slice(0, request.maxResults)
        .map((result, index) =>
          writeResult(
            result,
            index + 1,
            request.page && { ...request.page, ...(pageFormat && { format: pageFormat }) },
          ),
        ),
      server_time: serverTime,
      usage: omitUndefined({
        searches: request.queries.length,
        credits: charge.credits,
        tokens: charge.tokens,
        cost: charge.costUsd,
      }),
    })
  },
}

function writeResult(result: SearchResult, position: number, page: SearchRequest['page']): JsonObject {
  const { title, url, snippet, date, lastUpdated, score, content, author, image, favicon } = result
  const text =
    page && content !== undefined ? { format: page.format, ...truncateText(content, page.maxCharacters) } : undefined
  return omitUndefined({
    title,
    url,
    snippet,
    date,
    last_updated: lastUpdated,
    position,
    score,
    content: text,
    author,
    image,
    favicon,
  })
}

function removeDuplicates(results: readonly SearchResult[]): readonly SearchResult[] {
  const byUrl = new Map<string, SearchResult>()
  for (const result of results) if (!byUrl.has(result.url)) byUrl.set(result.url, result)
  return [...byUrl.values()]
}

/** Reads a request with Perplexity's fields, or with other gateways' names for them. Unknown fields are reported as dropped. */
function readRequest(body: JsonObject, { warnings, now }: ClientReadContext): SearchRequest {
  const fields = readFields(body, '', warnings)
  fields.ignore('model', 'search_tool_name', 'provider', 'stream')
  recordFieldNames(body, { ...featureNames, maxResults: ['max_results'] }, warnings)
  const request: SearchRequest = {
    queries: readQueries(fields, warnings),
    maxResults: readInteger(fields, 'max_results', [1, MAX_RESULTS], warnings) ?? DEFAULT_RESULTS,
    ...readDomains(fields, warnings),
    type: fields.oneOf('search_type', ['web', 'news', 'people']) ?? 'web',
    now: now * 1_000,
  }
  const [recency] = featureNames.recency.flatMap(
    (name) => fields.oneOf<Recency | 'any'>(name, ['any', ...RECENCIES]) ?? [],
  )
  const mode = fields.oneOf('search_mode', ['web', 'academic', 'sec'])
  const optionalFields = {
    offset: readInteger(fields, 'offset', [0, 10_000], warnings) || undefined,
    country: readCountry(fields, warnings),
    languages: readLanguages(fields, warnings),
    recency: recency === 'any' ? undefined : recency,
    after: readDay(fields, featureNames.after[0], warnings),
    before: readDay(fields, featureNames.before[0], warnings),
    updatedAfter: readDay(fields, featureNames.updatedAfter[0], warnings),
    updatedBefore: readDay(fields, featureNames.updatedBefore[0], warnings),
    page: readPage(fields, warnings),
    maxTokens: readInteger(fields, 'max_tokens', [1, 1_000_000], warnings),
    maxTokensPerPage: readInteger(fields, 'max_tokens_per_page', [1, 1_000_000], warnings),
    mode: mode === 'web' ? undefined : mode,
    contextSize: fields.oneOf('search_context_size', ['low', 'medium', 'high']),
    serverTime: fields.boolean('display_server_time') || undefined,
    options: fields.object('provider_options'),
  }
  fields.dropUnread()
  return { ...request, ...omitUndefined<Partial<SearchRequest>>(optionalFields) }
}

function readQueries(fields: Fields, warnings: Warnings): readonly string[] {
  const value = fields.any('query')
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0 || list.length > MAX_QUERIES)
    return warnings.reject('query', `must be a string or an array of 1 to ${MAX_QUERIES} strings.`)
  return list.map((query) => {
    if (typeof query !== 'string' || query.trim() === '')
      return warnings.reject('query', 'is required: a non-blank string, or an array of them.')
    if (query.length > MAX_QUERY_LENGTH)
      return warnings.reject('query', `must be at most ${MAX_QUERY_LENGTH} characters.`)
    return query
  })
}

function readCountry(fields: Fields, warnings: Warnings): string | undefined {
  const country = fields.string('country')?.trim()
  if (!country) return undefined
  if (!/^[a-z]{2}$/i.test(country))
    return warnings.reject('country', 'must be a two-letter country code (ISO 3166-1), such as "US".')
  return country.toUpperCase()
}

function readLanguages(fields: Fields, warnings: Warnings): readonly string[] | undefined {
  const singleLanguage = fields.string('language')
  const languageList = fields.strings('search_language_filter')
  const languages = languageList ?? (singleLanguage ? [singleLanguage] : [])
  for (const language of languages)
    if (!/^[a-z]{2,3}(?:[-_][a-z\d]{2,8})?$/i.test(language))
      warnings.reject('languages', 'must be language codes, such as "en" or "pt-BR" (ISO 639-1).')
  return languages.length === 0 ? undefined : languages.map((language) => language.replace('_', '-'))
}

/** Reads a day in Perplexity's format (`11/24/2026`) or in ISO 8601. Ignores the time. */
function readDay(fields: Fields, name: string, warnings: Warnings): string | undefined {
  const text = fields.string(name)?.trim()
  if (!text) return undefined
  const [, month = '', day = '', year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? []
  const [, iso] = /^(\d{4}-\d{2}-\d{2})(?:$|T)/.exec(text) ?? []
  const isoDay = year === undefined ? iso : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (isoDay !== undefined && isValidDay(isoDay)) return isoDay
  return warnings.reject(name, 'must be a day, such as "2026-11-24" or "11/24/2026".')
}

/** Returns whether this day exists. `Date` would parse June 31 as July 1. */
function isValidDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function readDomains(fields: Fields, warnings: Warnings): Pick<SearchRequest, 'include' | 'exclude'> {
  const [list = []] = featureNames.include.flatMap((name) => {
    const value = fields.strings(name)
    return value ? [value] : []
  })
  if (list.length > MAX_DOMAINS) warnings.reject('include', `must contain at most ${MAX_DOMAINS} domains.`)
  for (const domain of list)
    if (!DOMAIN_PATTERN.test(domain))
      warnings.reject('include', 'must be domains, such as "example.com"; a leading "-" excludes a domain.')
  return {
    include: list.filter((domain) => !domain.startsWith('-')),
    exclude: list.filter((domain) => domain.startsWith('-')).map((domain) => domain.slice(1)),
  }
}

/** Matches a domain, a top-level domain (`.gov`), or part of a site (`example.com/docs`). Excludes characters that would add terms to a query. */
const DOMAIN_PATTERN =
  /^-?(?:\*\.|\.)?[\p{L}\p{N}_][\p{L}\p{N}_-]{0,62}(?:\.[\p{L}\p{N}_-]{1,63}){0,20}(?:\/[\w./~%-]{0,200})?$/u

function readPage(fields: Fields, warnings: Warnings): SearchRequest['page'] {
  const options = fields.fields('content_options')
  if (!options) return undefined
  const isFullPage = options.boolean('full_page')
  const format = options.oneOf('format', ['markdown', 'html', 'text']) ?? 'markdown'
  const maxCharacters = readInteger(options, 'max_characters', [1, 1_000_000], warnings)
  if (options.boolean('snippet') === false) warnings.recordDrop('content_options.snippet')
  options.dropUnread()
  return isFullPage ? { format, ...(maxCharacters !== undefined && { maxCharacters }) } : undefined
}
