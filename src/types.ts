/** Time, injected. `sleep` rejects with the signal's reason when aborted. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Optional: the same wait with less machinery, for the several that each request needs. Answers how to cancel it. */
  setTimer?(ms: number, onTime: () => void): () => void
}

/** One stored value and the version that a later conditional write names. */
export interface Stored {
  value: string
  /** Opaque and not empty; compared for equality only. */
  version: string
}

/**
 * What every storage adapter provides: string values under string keys, ordered by key. Any well-formed text without NUL is a value,
 * and a key when it is not empty. An adapter that cannot read what it keeps rejects, and never answers as if it were empty.
 * `test/conformance/storage.ts` checks all of this.
 */
export interface Storage {
  /** The value that was set last; `undefined` when the key was never set, was deleted, or its time is over. */
  get(key: string): Promise<Stored | undefined>
  /**
   * Writes and answers the new version, or `false`, having changed nothing, when `ifVersion` lost the race.
   * `ifVersion: null` means "only if the key does not exist"; without it the write is unconditional. Each write gets a version that the
   * key never had before, also after it was deleted. `ttlMs` counts from this write; without it the value stays for good.
   */
  set(key: string, value: string, options?: { ifVersion?: string | null; ttlMs?: number }): Promise<string | false>
  /** Answers whether a value was removed; `false` when it was absent or `ifVersion` lost the race. */
  delete(key: string, options?: { ifVersion?: string }): Promise<boolean>
  /**
   * Keys that start with `prefix`, taken literally, in ascending code-unit order (that of `<` on strings), those behind `after` only
   * (which need not exist), at most `limit`. Shows every write that was answered before.
   */
  list(prefix: string, options?: { after?: string; limit?: number }): Promise<Array<Stored & { key: string }>>
  /** Does `ifVersion` hold against other writers of the same data, in this process and elsewhere? */
  readonly atomic: boolean
  /**
   * Adds an integer to a counter in one step and answers its new value; an absent one counts from 0. The value is kept in decimal, under
   * a new version. `ttlMs` counts from the step that creates the counter, and later steps leave it alone. Rejects, having changed
   * nothing, when the value, or the sum, is no safe integer.
   */
  increment?(key: string, by: number, options?: { ttlMs?: number }): Promise<number>
  /**
   * Calls back with each key that another writer changed since this storage was last read or watched, when the new value can be read;
   * answers the function that stops it. To hear of one's own changes too is harmless, to miss one of another's is not. A value whose
   * time is over is no change. `onChange` must not throw.
   */
  watch?(onChange: (key: string) => void): () => void
  /**
   * A secret of at least 32 characters that this store keeps beside its data, never among it; made on first use and the same ever after.
   * Used to seal credentials when the host gives no `secret`. Rejects when there was one that cannot be read.
   */
  ownSecret?(): Promise<string>
  /** Settles the writes under way and lets go of files, timers and connections. May be called more than once. */
  close?(): Promise<void>
}

/** What a model, a combo or a provider serves. */
export type Kind = 'llm' | 'image' | 'tts' | 'stt' | 'embedding' | 'imageToText' | 'webSearch' | 'webFetch'

/** The shape of requests and answers that clients and providers speak. */
export type WireFormat = 'openai-chat' | 'openai-responses' | 'anthropic-messages' | 'gemini'

/** The shape of requests and answers that a provider speaks; no client speaks the last one. */
export type ProviderFormat = WireFormat | 'bedrock-converse'

/** How an upstream wants its credential. */
export type AuthStyle = 'bearer' | 'x-api-key' | 'x-goog-api-key' | 'api-key'

/** A cloud whose addresses and credentials follow rules of its own (src/upstream/clouds). */
export type Cloud = 'azure' | 'bedrock' | 'vertex'

/** One model of a provider in the catalog. Prices are US dollars per million tokens. */
export interface CatalogModel {
  id: string
  /** Absent means `llm`. */
  type?: Kind
  /** Largest input plus output, in tokens. */
  contextWindow?: number
  maxOutputTokens?: number
  price?: { input?: number; output?: number; cacheRead?: number; cacheWrite?: number }
}

/** A provider as the catalog knows it. */
export interface CatalogProvider {
  alias?: string
  /** The name its models are filed under; default: `alias`, else the provider id. */
  catalogAlias?: string
  name?: string
  docsUrl?: string
  /** With its version segment: `https://api.openai.com/v1`. */
  baseUrl?: string
  /** Default `openai-chat`. */
  format?: ProviderFormat
  /** Of models whose names begin so, where those speak another: `{ 'claude-': 'anthropic-messages' }`. */
  formats?: Readonly<Record<string, ProviderFormat>>
  /** Formats that its `baseUrl` speaks as well, so that clients of those are passed through, too. */
  alsoSpeaks?: readonly WireFormat[]
  /** Default: what the format uses. */
  auth?: AuthStyle
  /** Instead of `baseUrl` and `auth`: it is reached as that cloud is, by the connection's settings. */
  cloud?: Cloud
  /** Default `['llm']`. */
  serviceKinds?: readonly Kind[]
  models?: readonly CatalogModel[]
  ttsConfig?: { models: ReadonlyArray<{ id: string }> }
  embeddingConfig?: { models: ReadonlyArray<{ id: string }> }
  searchConfig?: object
  fetchConfig?: object
}

/** Provider definitions by provider id. */
export type Catalog = Readonly<Record<string, CatalogProvider>>

/** A client's API key as the management API shows it (spec.md, API key). */
export interface ApiKey {
  id: string
  name: string
  key: string
  /** Only an explicit `false` means paused. */
  isActive?: boolean
  /** ISO 8601. */
  createdAt: string
}

/** spec.md, Settings. */
export interface Settings {
  cloudEnabled: boolean
  requireApiKey: boolean
  /** Without a trailing `/v1` or slash; may be empty. */
  cloudUrl: string
}

/** How a combo chooses among its models, or a provider among its connections. */
export type Strategy =
  | 'fallback'
  | 'round-robin'
  | 'weighted'
  | 'random'
  | 'least-latency'
  | 'least-cost'
  | 'least-busy'
  | 'sticky'
  | 'conditional'

/**
 * An entry of a combo: a model name, or one with its share under `weighted` and `sticky` (0 to 1,000, default 1; 0 is for when all others
 * fail) and with what a request must be like to go there.
 */
export type ComboModel = string | { model: string; weight?: number; when?: Condition }

/** What a request must be like: all that is given must hold. */
export interface Condition {
  /** The model name that the client asked for. */
  model?: string | string[]
  /** The size of the request's body, both ends included. */
  bytes?: { min?: number; max?: number }
  stream?: boolean
  /** Does the request bring tools, does it hold images? */
  tools?: boolean
  images?: boolean
  /** By header name, and by field of the body's `metadata`; numbers and booleans are compared as text. */
  headers?: Record<string, Pattern>
  metadata?: Record<string, Pattern>
}

/** A text in which `*` stands for anything, or several of which one must match; `true`: any value, `false`: none. Case matters. */
export type Pattern = string | string[] | boolean

/** A named group of models that is listed and requested like a model. */
export interface Combo {
  id: string
  name: string
  /** Absent means `llm`. */
  kind?: Kind
  /** Model names: `<alias>/<model_id>`, an alias, or another combo. */
  models: ComboModel[]
  strategy: Strategy
  /** Under `round-robin`: so many requests in a row for each model; default 1. */
  stickyLimit?: number
  /** How the connections of the providers that it names are chosen among; default: as each provider says. */
  connectionStrategy?: Strategy
  /** A second attempt while the first one takes longer than its target nearly always does; default false. */
  hedge?: boolean
  createdAt: string
  updatedAt: string
}

/** What a connection knows beyond its provider's definition. */
export interface ProviderSpecificData {
  /** Alias that prefixes the connection's model ids in the listing. */
  prefix?: string
  /** Explicit list of model ids to expose. */
  enabledModels?: string[]
  /** Upstream base address, with its version segment. */
  baseUrl?: string
  /** Overrides the provider's wire format. */
  format?: WireFormat
  /** On Azure: the first part of its address, a version if it is the older one, and what answers, whatever the model is called. */
  resource?: string
  apiVersion?: string
  deployment?: string
  /** On Bedrock, such as `us-east-1`, and on Vertex, where `global` is the default and the project's id is wanted too. */
  region?: string
  project?: string
}

/** One account at a provider. */
export interface Connection {
  id: string
  provider: string
  name: string
  /** Only `false` excludes the connection. */
  isActive?: boolean
  /** Lower first; absent last. */
  priority?: number
  /** In answers of the management API: the last four characters only. */
  apiKey?: string
  providerSpecificData?: ProviderSpecificData
  createdAt: string
  updatedAt: string
}

/** A model that the catalog does not know, filed under a provider's alias or id. */
export interface CustomModel {
  id: string
  type?: Kind
  providerAlias: string
}

/** One entry of the model listing (spec.md, Model entry). */
export interface ModelEntry {
  id: string
  object: 'model'
  /** Unix time in seconds. */
  created: number
  owned_by: string
  kind?: 'webSearch' | 'webFetch'
}

/** A console-like sink for the few things worth saying. */
export interface Logger {
  debug?(message: string, data?: Record<string, unknown>): void
  info?(message: string, data?: Record<string, unknown>): void
  warn(message: string, data?: Record<string, unknown>): void
  error(message: string, data?: Record<string, unknown>): void
}
