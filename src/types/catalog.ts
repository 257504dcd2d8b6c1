/** What a model, a combo or a provider serves. No list has the models of the kinds `rerank` and `moderation`. */
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

/** The formats of requests and answers that both clients and providers speak. */
export type WireFormat = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini'

/** The formats that clients speak: those above, and that of the AI SDK, which no provider speaks. */
export type ClientFormat = WireFormat | 'ai-sdk'

/** The formats that providers speak: those of both, and one that no client speaks. */
export type ProviderFormat = WireFormat | 'bedrock-converse'

/** The header that carries a provider's credential; `bearer` is `Authorization: Bearer`. */
export type AuthStyle = 'bearer' | 'x-api-key' | 'x-goog-api-key' | 'api-key'

/** A cloud with its own rules for addresses and credentials (src/upstream/clouds). */
export type Cloud = 'azure' | 'bedrock' | 'vertex'

/** One model of a provider in the catalog. */
export interface CatalogModel {
  /** The provider's own id of the model, which may contain slashes. */
  id: string
  /** Default `llm`. */
  type?: Kind
  /** Largest sum of input and output, in tokens. */
  contextWindow?: number
  /** Largest output, in tokens. */
  maxOutputTokens?: number
  price?: Price
}

/** Prices in US dollars: tokens by the million, everything else each. An absent price is not known. */
export type Price = Partial<Record<PricedTokens | PricedUnit | 'minute', number>> & {
  /**
   * An image by its quality and size, in either order: `{ "high:1024x1024": 0.17, "1024x1024": 0.04, "4K": 0.15, "low": 0.01 }`. What is not named
   * costs `image`, else the dearest of these.
   */
  images?: Readonly<Record<string, number>>
}

/** Tokens with a price. Those of sound and images cost what others do where they have none of their own. */
export type PricedTokens =
  | 'input'
  | 'output'
  | 'cacheRead'
  | 'cacheWrite'
  | 'audioInput'
  | 'audioOutput'
  | 'imageInput'
  | 'imageOutput'

/** The units other than tokens that providers charge for. */
export type PricedUnit = 'search' | 'page' | 'credit' | 'image' | 'second' | 'character'

/** A provider in the catalog. */
export interface CatalogProvider {
  /** The prefix of its models' names; default: `catalogAlias`, else the provider id. */
  alias?: string
  /** The alias its models are filed under in the catalog; default: `alias`, else the provider id. */
  catalogAlias?: string
  /** Its name for people. */
  name?: string
  docsUrl?: string
  /** With its version segment: `https://api.openai.com/v1`. */
  baseUrl?: string
  /** The format of its models; default `openai-chat`. */
  format?: ProviderFormat
  /** By prefix of a model's id, the format of the models that speak another one: `{ 'claude-': 'anthropic-messages' }`. */
  formats?: Readonly<Record<string, ProviderFormat>>
  /** Other formats that the same `baseUrl` speaks; requests in those are passed through untranslated. */
  alsoSpeaks?: readonly WireFormat[]
  /** Default: the usual header of the format. */
  auth?: AuthStyle
  /** The cloud that decides address and credential, in place of `baseUrl` and `auth`. */
  cloud?: Cloud
  /** Default `['llm']`. */
  serviceKinds?: readonly Kind[]
  models?: readonly CatalogModel[]
  /** Models listed for the kind `tts`, in addition to `models` (src/rules.md, Listing with connections); likewise `embeddingConfig`. */
  ttsConfig?: { models: ReadonlyArray<{ id: string }> }
  embeddingConfig?: { models: ReadonlyArray<{ id: string }> }
  /** Present: `<alias>/search` is listed for the kind `webSearch`; likewise `fetchConfig`, `<alias>/fetch` and `webFetch`. */
  searchConfig?: ServiceConfig
  fetchConfig?: ServiceConfig
}

/** A service of a provider besides its models, such as its search. */
export interface ServiceConfig {
  /** Its address, where it is not the provider's `baseUrl`. */
  baseUrl?: string
  /** The header that carries the credential, where it is not the provider's. */
  keyHeader?: string
  price?: Price
}

/** Provider definitions by provider id. */
export type Catalog = Readonly<Record<string, CatalogProvider>>
