import { type Fields, fieldsOf } from '../../../formats/canonical/fields.ts'
import { defined } from '../../../formats/canonical/values.ts'
import { noteNames, type Warnings } from '../../../formats/canonical/warnings.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { ClientForm, ReadTerms } from '../../forms.ts'
import { whole } from '../../web/fields.ts'
import { cutText } from '../../web/text.ts'
import type { Result, SearchResults } from '../given.ts'
import { featureNames, type Recency, type WebSearch } from '../search.ts'

const MOST_QUERIES = 5
const MOST_RESULTS = 100
const DEFAULT_RESULTS = 10
const MOST_CHARACTERS = 4_000
const MOST_DOMAINS = 300
const RECENCIES = ['hour', 'day', 'week', 'month', 'year'] as const

/** Perplexity's form, and what its clients do not know in members of its own. */
export const searchClient: ClientForm<WebSearch, SearchResults> = {
  read: readSearch,
  write({ id, results, pageFormat, spent, serverTime }, { asked, provider, model, newId }): JsonObject {
    return defined({
      id: id ?? `search_${newId()}`,
      object: 'search',
      model: `${provider}/${model}`,
      results: distinct(results)
        .slice(0, asked.maxResults)
        .map((result, at) =>
          written(result, at + 1, asked.page && { ...asked.page, ...(pageFormat && { format: pageFormat }) }),
        ),
      server_time: serverTime,
      usage: defined({
        searches: asked.queries.length,
        credits: spent.credits,
        tokens: spent.tokens,
        cost: spent.costUsd,
      }),
    })
  },
}

function written(result: Result, position: number, page: WebSearch['page']): JsonObject {
  const { title, url, snippet, date, lastUpdated, score, content, author, image, favicon } = result
  const text =
    page && content !== undefined ? { format: page.format, ...cutText(content, page.maxCharacters) } : undefined
  return defined({
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

/** Several queries may find the same page. */
function distinct(results: readonly Result[]): readonly Result[] {
  const byUrl = new Map<string, Result>()
  for (const result of results) if (!byUrl.has(result.url)) byUrl.set(result.url, result)
  return [...byUrl.values()]
}

/**
 * Reads the body of a search: Perplexity's form, and the names that other gateways use for the same. Throws `INVALID_REQUEST` with the name of the
 * field; members that no search has are noted as dropped.
 */
function readSearch(body: JsonObject, { warnings, now }: ReadTerms): WebSearch {
  const fields = fieldsOf(body, '', warnings)
  fields.ignore('model', 'search_tool_name', 'provider', 'stream')
  noteNames(body, { ...featureNames, maxResults: ['max_results'] }, warnings)
  const search: WebSearch = {
    queries: queriesIn(fields, warnings),
    maxResults: whole(fields, 'max_results', [1, MOST_RESULTS], warnings) ?? DEFAULT_RESULTS,
    ...domainsIn(fields, warnings),
    type: fields.word('search_type', ['web', 'news', 'people']) ?? 'web',
    now: now * 1_000,
  }
  const [recency] = featureNames.recency.flatMap(
    (name) => fields.word<Recency | 'any'>(name, ['any', ...RECENCIES]) ?? [],
  )
  const mode = fields.word('search_mode', ['web', 'academic', 'sec'])
  const more = {
    offset: whole(fields, 'offset', [0, 10_000], warnings) || undefined,
    country: countryIn(fields, warnings),
    languages: languagesIn(fields, warnings),
    recency: recency === 'any' ? undefined : recency,
    after: dayIn(fields, featureNames.after[0], warnings),
    before: dayIn(fields, featureNames.before[0], warnings),
    updatedAfter: dayIn(fields, featureNames.updatedAfter[0], warnings),
    updatedBefore: dayIn(fields, featureNames.updatedBefore[0], warnings),
    page: pageIn(fields, warnings),
    maxTokens: whole(fields, 'max_tokens', [1, 1_000_000], warnings),
    maxTokensPerPage: whole(fields, 'max_tokens_per_page', [1, 1_000_000], warnings),
    mode: mode === 'web' ? undefined : mode,
    contextSize: fields.word('search_context_size', ['low', 'medium', 'high']),
    serverTime: fields.flag('display_server_time') || undefined,
    options: fields.object('provider_options'),
  }
  fields.drop()
  return { ...search, ...defined<Partial<WebSearch>>(more) }
}

function queriesIn(fields: Fields, warnings: Warnings): readonly string[] {
  const given = fields.any('query')
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  if (list.length === 0 || list.length > MOST_QUERIES)
    return warnings.refuse('query', `must be a text, or a list of 1 to ${MOST_QUERIES} texts.`)
  return list.map((query) => {
    if (typeof query !== 'string' || query.trim() === '')
      return warnings.refuse('query', 'is required: a text that is not blank, or a list of such texts.')
    if (query.length > MOST_CHARACTERS)
      return warnings.refuse('query', `must have at most ${MOST_CHARACTERS} characters.`)
    return query
  })
}

function countryIn(fields: Fields, warnings: Warnings): string | undefined {
  const country = fields.text('country')?.trim()
  if (!country) return undefined
  if (!/^[a-z]{2}$/i.test(country)) return warnings.refuse('country', 'must be two letters, such as "US" (ISO 3166-1).')
  return country.toUpperCase()
}

function languagesIn(fields: Fields, warnings: Warnings): readonly string[] | undefined {
  const one = fields.text('language')
  const several = fields.texts('search_language_filter')
  const list = several ?? (one ? [one] : [])
  for (const language of list)
    if (!/^[a-z]{2,3}(?:[-_][a-z\d]{2,8})?$/i.test(language))
      warnings.refuse('languages', 'must be language codes, such as "en" or "pt-BR" (ISO 639-1).')
  return list.length === 0 ? undefined : list.map((language) => language.replace('_', '-'))
}

/** A day as Perplexity writes it (`11/24/2026`), or as ISO 8601 does, where a time behind it is left out. */
function dayIn(fields: Fields, name: string, warnings: Warnings): string | undefined {
  const text = fields.text(name)?.trim()
  if (!text) return undefined
  const [, month = '', day = '', year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text) ?? []
  const [, iso] = /^(\d{4}-\d{2}-\d{2})(?:$|T)/.exec(text) ?? []
  const found = year === undefined ? iso : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
  if (found !== undefined && isDay(found)) return found
  return warnings.refuse(name, 'must be a day, such as "2026-11-24" or "11/24/2026".')
}

/** Is it a day of the calendar? `Date` takes the 31st of June for the 1st of July. */
function isDay(text: string): boolean {
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

function domainsIn(fields: Fields, warnings: Warnings): Pick<WebSearch, 'include' | 'exclude'> {
  const [list = []] = featureNames.include.flatMap((name) => {
    const given = fields.texts(name)
    return given ? [given] : []
  })
  if (list.length > MOST_DOMAINS) warnings.refuse('include', `must have at most ${MOST_DOMAINS} domains.`)
  for (const domain of list)
    if (!DOMAIN.test(domain))
      warnings.refuse('include', 'must be domains, such as "example.com"; a "-" in front excludes one.')
  return {
    include: list.filter((domain) => !domain.startsWith('-')),
    exclude: list.filter((domain) => domain.startsWith('-')).map((domain) => domain.slice(1)),
  }
}

/** A domain, a top-level domain (`.gov`), or a part of a site (`example.com/docs`), without anything that a query would take for a word of its own. */
const DOMAIN =
  /^-?(?:\*\.|\.)?[\p{L}\p{N}_][\p{L}\p{N}_-]{0,62}(?:\.[\p{L}\p{N}_-]{1,63}){0,20}(?:\/[\w./~%-]{0,200})?$/u

function pageIn(fields: Fields, warnings: Warnings): WebSearch['page'] {
  const options = fields.fields('content_options')
  if (!options) return undefined
  const isWanted = options.flag('full_page')
  const format = options.word('format', ['markdown', 'html', 'text']) ?? 'markdown'
  const maxCharacters = whole(options, 'max_characters', [1, 1_000_000], warnings)
  if (options.flag('snippet') === false) warnings.noteDropped('content_options.snippet')
  options.drop()
  return isWanted ? { format, ...(maxCharacters !== undefined && { maxCharacters }) } : undefined
}
