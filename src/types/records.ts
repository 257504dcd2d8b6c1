import type { Kind, WireFormat } from './catalog.ts'
import type { EffectiveRules } from './rules.ts'

/** A client's API key as the management API shows it (spec.md, API key). */
export interface ApiKey {
  id: string
  name: string
  /** The whole key, as clients send it. */
  key: string
  /** Only an explicit `false` means paused. */
  isActive?: boolean
  /** ISO 8601. */
  createdAt: string
}

/** The settings of a gateway (spec.md, Settings); all are set, by default to `false` and `""`, and to the rules that hold without. */
export interface Settings extends EffectiveRules {
  /** Is cloud mode on? */
  cloudEnabled: boolean
  /** Is a request to `/v1` or `/v1beta` without a valid key refused with 401? */
  requireApiKey: boolean
  /** Address of the cloud proxy, without a trailing `/v1` or slash; may be empty. */
  cloudUrl: string
}

/** The settings of one connection, beyond the definition of its provider. */
export interface ProviderSpecificData {
  /** The prefix of the connection's models in the listing; default: the provider's alias. */
  prefix?: string
  /** May `prefix` be a name of another provider, so that requests for one reach the other as well? Default: such a prefix is refused. */
  sharesPrefix?: boolean
  /** The ids of the models to list; default: those of the catalog, or those that a compatible provider reports. */
  enabledModels?: string[]
  /** Base address of the provider, with its version segment; default: that of the catalog. */
  baseUrl?: string
  /** Default: the provider's format. */
  format?: WireFormat
  /** Azure: the name in `https://<resource>.openai.azure.com`. Required there, unless `baseUrl` is given. */
  resource?: string
  /** Azure: sent as `api-version`. A dated one (`2024-10-21`) selects the older address, `/openai/deployments/…`. */
  apiVersion?: string
  /** Azure: the deployment that answers; default: the one called like the model. */
  deployment?: string
  /** Bedrock: required, such as `us-east-1`. Vertex AI: default `global`. */
  region?: string
  /** Vertex AI: the project's id. Required, unless the key file of a service account names it or `apiKey` is an API key. */
  project?: string
}

/** One account at a provider. */
export interface Connection {
  id: string
  /** A provider id of the catalog, one that starts with `openai-compatible` or `anthropic-compatible`, or any other beside a `baseUrl`. */
  provider: string
  name: string
  /** Only `false` excludes the connection. */
  isActive?: boolean
  /** `true` keeps new requests away, and lets those under way and the sessions that are here go on. */
  draining?: boolean
  /** Lower comes first, none comes last; among equals the oldest connection comes first. */
  priority?: number
  /** The credential. In answers of the management API: its last four characters only. */
  apiKey?: string
  providerSpecificData?: ProviderSpecificData
  /** ISO 8601. */
  createdAt: string
  /** ISO 8601. */
  updatedAt: string
}

/** A model that the catalog does not have, filed under a provider's alias or id. */
export interface CustomModel {
  id: string
  /** Default `llm`. */
  type?: Kind
  providerAlias: string
}

/** One entry of the model listing (spec.md, Model entry). */
export interface ModelEntry {
  /** `<alias>/<model_id>`, or the name of a combo. */
  id: string
  object: 'model'
  /** Unix time in seconds, the same for all entries of one answer. */
  created: number
  /** The alias of the provider, or `combo`. */
  owned_by: string
  /** Only on entries of these kinds. */
  kind?: 'webSearch' | 'webFetch'
}
