import type { Synonyms, Warnings } from '../../formats/canonical/warnings.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { PageFormat } from '../web/answers.ts'

/** A search as its client asks for it, in the words of no vendor. */
export interface WebSearch {
  /** At least one. */
  queries: readonly string[]
  /** The most results of all queries together. */
  maxResults: number
  /** How many results are passed over. */
  offset?: number
  /** ISO 3166-1 alpha-2, in capitals. */
  country?: string
  /** ISO 639-1, with a region or without one; the most wanted first. */
  languages?: readonly string[]
  /** How old pages may be. */
  recency?: Recency
  /** Days, `2026-11-24`: pages published in between. */
  after?: string
  before?: string
  /** Days: pages changed in between. */
  updatedAfter?: string
  updatedBefore?: string
  /** The domains that the search is restricted to, and those that it leaves out. */
  include: readonly string[]
  exclude: readonly string[]
  type: 'web' | 'news' | 'people'
  /** The whole text of each page is wanted, in this form. */
  page?: { format: PageFormat; maxCharacters?: number }
  /** Of all results together, and of each. */
  maxTokens?: number
  maxTokensPerPage?: number
  mode?: 'academic' | 'sec'
  contextSize?: 'low' | 'medium' | 'high'
  /** Is the time of the vendor's server wanted in the answer? */
  serverTime?: true
  /** The client's options for vendors. */
  options?: JsonObject
  /** Epoch ms. */
  now: number
}

export type Recency = 'hour' | 'day' | 'week' | 'month' | 'year'

/** What a search may ask for besides its query and its number of results. Each vendor says what of it it can carry. */
export type Feature = keyof typeof featureNames

/** The client's names of features; the first of several that are given counts. */
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
} as const satisfies Synonyms

const features = Object.keys(featureNames) as Feature[] // the object has no other keys

/** Notes what the search asks for and a vendor cannot carry. */
export function noteLost(search: WebSearch, carried: ReadonlySet<Feature>, warnings: Warnings): void {
  for (const name of features) if (!carried.has(name) && isAsked(search, name)) warnings.noteDropped(name)
}

function isAsked(search: WebSearch, name: Feature): boolean {
  if (name === 'type') return search.type !== 'web'
  const value = search[name]
  return Array.isArray(value) ? value.length > 0 : value !== undefined
}
