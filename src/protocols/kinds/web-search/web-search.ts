import type { JsonObject } from '../../../lib/json.ts'
import type { FieldSynonyms, Warnings } from '../../formats/canonical/canonical-warnings.ts'
import type { PageFormat } from '../web/web-responses.ts'

/** A search request, independent of the vendor's format. */
export interface SearchRequest {
  /** At least one query. */
  queries: readonly string[]
  /** The total maximum number of results for all queries. */
  maxResults: number
  /** The number of results to skip. */
  offset?: number
  /** The country: ISO 3166-1 alpha-2, in uppercase. */
  country?: string
  /** The languages in order of preference: ISO 639-1, optionally with a region. */
  languages?: readonly string[]
  /** The maximum age of pages. */
  recency?: Recency
  /** The publication date range, with dates such as `2026-11-24`. */
  after?: string
  before?: string
  /** The last-modified date range. */
  updatedAfter?: string
  updatedBefore?: string
  /** The domains to search, and those to exclude. */
  include: readonly string[]
  exclude: readonly string[]
  type: 'web' | 'news' | 'people'
  /** Includes the full text of each page, in this format. */
  page?: { format: PageFormat; maxCharacters?: number }
  /** Maximum total tokens of all results. */
  maxTokens?: number
  maxTokensPerPage?: number
  mode?: 'academic' | 'sec'
  contextSize?: 'low' | 'medium' | 'high'
  /** Set if the response should include the vendor's server time. */
  serverTime?: true
  /** The client's vendor options. */
  options?: JsonObject
  /** Epoch ms. */
  now: number
}

export type Recency = 'hour' | 'day' | 'week' | 'month' | 'year'

/** The optional features of a search. Each vendor lists the ones it supports. */
export type SearchFeature = keyof typeof featureNames

/** The client's fields for each feature. The first one that is set is used. */
export const featureNames = {
  offset: ['offset'],
  country: ['country'],
  languages: ['search_language_filter', 'language'],
  recency: ['search_recency_filter', 'time_range'],
  after: ['search_after_date_filter'],
  before: ['search_before_date_filter'],
  updatedAfter: ['last_updated_after_filter'],
  updatedBefore: ['last_updated_before_filter'],
  include: ['search_domain_filter', 'domain_filter'],
  exclude: ['search_domain_filter', 'domain_filter'],
  type: ['search_type'],
  page: ['content_options.full_page'],
  maxTokens: ['max_tokens'],
  maxTokensPerPage: ['max_tokens_per_page'],
  mode: ['search_mode'],
  contextSize: ['search_context_size'],
  serverTime: ['display_server_time'],
} as const satisfies FieldSynonyms

const features = Object.keys(featureNames) as SearchFeature[] // `featureNames` has no other keys

/** Reports requested features that a vendor doesn't support. */
export function recordUnsupported(
  request: SearchRequest,
  supported: ReadonlySet<SearchFeature>,
  warnings: Warnings,
): void {
  for (const name of features) if (!supported.has(name) && usesFeature(request, name)) warnings.recordDrop(name)
}

function usesFeature(request: SearchRequest, name: SearchFeature): boolean {
  if (name === 'type') return request.type !== 'web'
  const value = request[name]
  return Array.isArray(value) ? value.length > 0 : value !== undefined
}
