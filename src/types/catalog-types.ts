/** The kind of service that a model, combo, or provider offers. Models of the kinds `rerank` and `moderation` aren't listed anywhere. */
export type Kind =
  | 'llm'
  | 'image'
  | 'tts'
  | 'stt'
  | 'embedding'
  | 'imageToText'
  | 'webSearch'
  | 'webFetch'
  | 'rerank'
  | 'moderation'

/** Request and response formats supported for both clients and providers. */
export type WireFormat = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini'

/** Formats supported for clients: the wire formats, and the AI SDK's, which no provider uses. */
export type ClientFormat = WireFormat | 'ai-sdk'

/** Formats supported for providers: the wire formats, and Bedrock's, which no client uses. */
export type ProviderFormat = WireFormat | 'bedrock-converse'

/** The header for a provider's credential; `bearer` means `Authorization: Bearer`. */
export type AuthStyle = 'bearer' | 'x-api-key' | 'x-goog-api-key' | 'api-key'

/** A cloud platform with its own rules for URLs and credentials (src/request/upstream/clouds). */
export type Cloud = 'azure' | 'bedrock' | 'vertex'

/** A provider's model in the catalog. */
export interface CatalogModel {
  /** The provider's own model ID, which may contain slashes. */
  id: string
  /** The model's kind. Default: `llm`. */
  type?: Kind
  /** Maximum input and output tokens combined. */
  contextWindow?: number
  /** Maximum output tokens. */
  maxOutputTokens?: number
  price?: Price
  /** The date of the model's price, `YYYY-MM-DD`, if it differs from the provider's `asOf`. */
  asOf?: string
  /** Whether the source of a refreshed catalog no longer lists the model. */
  retired?: true
}

/** Where a price comes from. */
export interface PriceOrigin {
  /**
   * `connection`: the connection's `prices`. `custom`: a custom model. `live`: a refreshed catalog. `built-in`: the catalog that the gateway started
   * with.
   */
  by: 'connection' | 'custom' | 'live' | 'built-in'
  /** The model: `anthropic/claude-opus-5-5`. */
  of: string
  /** The date of the price, `YYYY-MM-DD`. Absent if unknown. */
  asOf?: string
}

/** Prices in USD, per million tokens or per unit. An absent price is unknown. */
export type Price = Partial<Record<PricedTokens | PricedUnit | 'minute', number>> & {
  /**
   * Price of an image by quality and size, in either order: `{ "high:1024x1024": 0.17, "1024x1024": 0.04, "4K": 0.15, "low": 0.01 }`. Other
   * images cost `image`, or else the highest of these prices.
   */
  images?: Readonly<Record<string, number>>
  /**
   * Prices for long inputs: `[{ "above": 200000, "input": 4, "output": 18 }]`. If the input, including cached tokens, exceeds `above`, the
   * entire request costs these prices. Prices that a tier omits stay the same.
   */
  tiers?: readonly PriceTier[]
  /**
   * Prices of the provider's service tiers, by the tier's name in lowercase: `{ "priority": { "input": 5, "output": 30 } }`. Prices that a
   * service tier omits stay the same, except `tiers`, which it replaces.
   */
  serviceTiers?: Readonly<Record<string, ServiceTierPrice>>
}

/** Prices for requests with more than `above` input tokens. */
export type PriceTier = { above: number } & Partial<Record<PricedTokens, number>>

/** Prices for requests that the provider handles with higher or lower priority. */
export type ServiceTierPrice = Partial<Record<PricedTokens, number>> & { tiers?: readonly PriceTier[] }

/** Token types with a price. Audio and image tokens without their own price cost the same as other tokens. */
export type PricedTokens =
  | 'input'
  | 'output'
  | 'cacheRead'
  | 'cacheWrite'
  | 'cacheWriteLong'
  | 'audioInput'
  | 'audioOutput'
  | 'imageInput'
  | 'imageOutput'

/** Units other than tokens that providers charge for. */
export type PricedUnit = 'search' | 'page' | 'credit' | 'image' | 'second' | 'character'

/** A provider in the catalog. */
export interface CatalogProvider {
  /** The prefix of the provider's model names. Default: `catalogAlias`, or else the provider ID. */
  alias?: string
  /** The alias of the provider's models in the catalog. Default: `alias`, or else the provider ID. */
  catalogAlias?: string
  /** Display name. */
  name?: string
  docsUrl?: string
  /** The base URL, including the version segment: `https://api.openai.com/v1`. */
  baseUrl?: string
  /** The format of the provider's models. Default: `openai-chat`. */
  format?: ProviderFormat
  /** Formats of models that use a different format, by model ID prefix: `{ 'claude-': 'anthropic-messages' }`. */
  formats?: Readonly<Record<string, ProviderFormat>>
  /** Other formats supported at the same `baseUrl`. Requests in these formats are passed through untranslated. */
  alsoSpeaks?: readonly WireFormat[]
  /** How to send the credential. Default: the format's usual header. */
  auth?: AuthStyle
  /** The cloud platform that determines URL and credential, instead of `baseUrl` and `auth`. */
  cloud?: Cloud
  /** The kinds of services that the provider offers. Default: `['llm']`. */
  serviceKinds?: readonly Kind[]
  models?: readonly CatalogModel[]
  /** The date of the provider's models and their prices, `YYYY-MM-DD`. */
  asOf?: string
  /** Whether the provider's models come from a refreshed catalog. */
  isLive?: true
  /**
   * Models to list under the kind `tts` in addition to `models` (src/rules.md, Listing with connections). `embeddingConfig` does the same
   * for `embedding`.
   */
  ttsConfig?: { models: ReadonlyArray<{ id: string }> }
  embeddingConfig?: { models: ReadonlyArray<{ id: string }> }
  /** If present, `<alias>/search` is listed under the kind `webSearch`. `fetchConfig` does the same for `<alias>/fetch` and `webFetch`. */
  searchConfig?: ServiceConfig
  fetchConfig?: ServiceConfig
}

/** A service that a provider offers in addition to its models, such as search. */
export interface ServiceConfig {
  /** The service's base URL, if different from the provider's. */
  baseUrl?: string
  /** The header for the credential, if different from the provider's. */
  keyHeader?: string
  price?: Price
}

/** Provider definitions by provider ID. */
export type Catalog = Readonly<Record<string, CatalogProvider>>
