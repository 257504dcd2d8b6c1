import type { UpstreamFetch } from '../../lib/exchange.ts'
import type { IsoTime } from '../../types/plain-types.ts'
import type { Catalog, Price } from '../../types.ts'

/** A catalog that is refreshed while the gateway runs. */
export interface CatalogOptions {
  /** The catalog to start with. Default: the built-in one. */
  base?: Catalog
  /** The source of models and prices: `models.dev`, or a function that fetches them. */
  refresh: 'models.dev' | FetchCatalog
  /** How often to refresh, in days or hours: `1d` (default), `12h`. */
  every?: string
  /** Decides whether to apply a suspicious change without `gateway.api.catalog.accept`. Default: hold all of them. */
  accept?(change: CatalogChange): boolean
}

/**
 * Fetches models and prices. `etag` is from the previous result. Resolves to `unchanged` if nothing has changed since then. If the function rejects,
 * resolves to anything else, or takes longer than a minute, the catalog stays the same.
 */
export type FetchCatalog = (request: {
  fetch: UpstreamFetch
  signal: AbortSignal
  etag?: string
}) => Promise<FetchedCatalog | 'unchanged'>

/** Models and prices from a source. */
export interface FetchedCatalog {
  /** By provider: an array of models as in the catalog, or the entries of https://models.dev/api.json. */
  providers: object
  /** The source, such as a URL. */
  source?: string
  /** The date of the prices, `YYYY-MM-DD`. Default: today. */
  asOf?: string
  etag?: string
}

/**
 * A suspicious change to a model, which is on hold until you accept it. Either a price becomes 0 or unknown, or a price or limit changes by more than
 * a factor of ten.
 */
export interface CatalogChange {
  /** The model, such as `openai/gpt-5.4`. */
  model: string
  /** The prices and limits that change, such as `input: 2.5 -> 0`. */
  changes: string[]
  /** The new price. Absent if it would become unknown. */
  price?: Price
  /** The new limits. Absent unless they change by more than a factor of ten. */
  contextWindow?: number
  maxOutputTokens?: number
}

/** A copy of models and prices that has been applied. */
export interface CatalogGeneration {
  /** The first 12 characters of `sha256`. */
  version: string
  /** The hash of its data, in hexadecimal. */
  sha256: string
  source: string
  /** The date of its prices, `YYYY-MM-DD`. */
  asOf: string
  appliedAt: IsoTime
  etag?: string
}

/** The catalog's state. */
export interface CatalogReview {
  /** Whether the catalog is refreshed. */
  isLive: boolean
  /** The refreshed copy in use. Absent while the gateway uses the initial catalog. */
  current?: CatalogGeneration
  /** The previous copy, which `rollback` restores. */
  previous?: CatalogGeneration
  /** Suspicious changes on hold until you call `accept`: the rejected copy's changes if there is one, otherwise those of the copy in use. */
  held: CatalogChange[]
  /** Why the latest copy was rejected; `accept` applies it anyway. */
  rejected?: string
  /** The most recently applied changes, newest first. */
  applied: string[]
  /** Why the latest refresh failed. */
  error?: string
}

/** Reviews and refreshes the catalog. */
export interface CatalogOperations<Input = never> {
  /** Returns the copy in use and the changes on hold. */
  review(): Promise<CatalogReview>
  /** Fetches the source now. Rejects with `UPSTREAM_FAILED` if it can't be used. */
  refresh(): Promise<CatalogReview>
  /** Applies the held changes of the given models, or all held changes, including a rejected copy. */
  accept(input?: { models?: string[] } | Input): Promise<CatalogReview>
  /** Restores the previous copy and ignores the current one from then on. */
  rollback(): Promise<CatalogReview>
}
