import { vendorFormats, wireFormats } from '../unions.ts'
import { cachingField } from './caching-fields.ts'
import { prices } from './price-fields.ts'
import { ignoredInUpdates, type OutputOf, type RecordFields, removableAnywhere, settable } from './record-fields.ts'
import {
  choice,
  customId,
  flag,
  list,
  map,
  name,
  number,
  type ObjectOf,
  object,
  patternText,
  type Shape,
  storedId,
  text,
  time,
} from './shapes.ts'
import { dataTags } from './tag-fields.ts'

/** The ID of a model to list. */
export const enabledModel = text({ max: 512 })
export const MAX_ENABLED_MODELS = 5_000

/** The provider's voice names, by the names that clients send. */
export const voices = map({
  name: text({ isNonEmpty: true, max: 64 }),
  of: text({ isNonEmpty: true, max: 200 }),
  max: 200,
})

export const providerDataFields = {
  /** Prefix of the connection's models in the listing. Default: the provider's alias. */
  prefix: { shape: text({ max: 200 }), isOptional: true },
  /** Allows `prefix` to be another provider's name, so requests for that name can reach both. Default: `false`. */
  sharesPrefix: { shape: flag, isOptional: true },
  /** IDs of the models to list. Default: the catalog's models, or the models that a compatible provider reports. */
  enabledModels: {
    shape: list(enabledModel, { items: 'modelIds', max: MAX_ENABLED_MODELS }),
    isOptional: true,
  },
  /** The provider's base URL, including the version segment. Default: the catalog's. */
  baseUrl: { shape: text({ isTrimmed: true, rules: 'address' }), isOptional: true },
  /**
   * The format for calling the server. Default: the provider's. A vendor form, such as `tei`, applies to every kind except chat, which then uses
   * `openai-chat`.
   */
  format: { shape: choice([...wireFormats, ...vendorFormats]), isOptional: true },
  /** Azure: the name in `https://<resource>.openai.azure.com`. Required unless `baseUrl` is set. */
  resource: {
    shape: patternText('resource', /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/),
    isOptional: true,
  },
  /** Bedrock: required, such as `us-east-1`. Vertex AI: default `global`. */
  region: { shape: patternText('region', /^[a-z0-9-]{2,40}$/), isOptional: true },
  /** Vertex AI: the project ID. Required unless the service account's key file contains it or `apiKey` is an API key. */
  project: {
    shape: patternText('project', /^[a-z0-9][a-z0-9.:-]{0,62}$/),
    isOptional: true,
  },
  /** Azure: sent as `api-version`. A dated version (`2024-10-21`) selects the older URL, `/openai/deployments/…`. */
  apiVersion: { shape: patternText('apiVersion', /^[\w.-]{1,40}$/), isOptional: true },
  /** Azure: the deployment to call. Default: the deployment with the model's name. */
  deployment: { shape: patternText('deployment', /^[\w.-]{1,64}$/), isOptional: true },
  /** Speech: the provider's voices by the names that clients send, such as `alloy`. A combo entry's voices take precedence. */
  voices: { shape: voices, isOptional: true },
} as const

/** Settings of one connection that differ from its provider's definition. */
export interface ProviderSpecificData extends ObjectOf<typeof providerDataFields> {}

/** The fields of a connection. */
export const connectionFields = {
  /** A provider ID from the catalog, an ID that starts with `openai-compatible` or `anthropic-compatible`, or any other ID if `baseUrl` is set. */
  provider: {
    shape: name(200),
    isEssential: true,
    inputs: { create: 'required', update: { as: 'same', shape: text() }, put: 'required' },
  },
  id: {
    shape: storedId,
    isStorageKey: true,
    inputs: { update: { as: 'same', shape: text() }, put: { as: 'required', shape: customId } },
  },
  name: { shape: name(200), readFrom: 'provider', inputs: settable },
  /** Only `false` deactivates the connection. */
  isActive: { shape: flag, isOptional: true, fallback: true, isSynced: false, inputs: settable },
  /** `true` stops new requests; in-flight requests and existing sessions continue. */
  draining: { shape: flag, isOptional: true, inputs: settable },
  /** Lower numbers are tried first; connections without a priority come last. Ties go to the oldest. */
  priority: {
    shape: number,
    isOptional: true,
    inputs: removableAnywhere,
  },
  /** Prices for the connection's models, by the provider's model IDs; they replace the catalog's. */
  prices: {
    shape: map({ name: text({ isNonEmpty: true, max: 512 }), of: prices, max: MAX_ENABLED_MODELS }),
    isOptional: true,
    inputs: removableAnywhere,
  },
  /** Whether the gateway asks the provider to cache prompts. Default: the value in the settings. */
  promptCaching: { ...cachingField, inputs: removableAnywhere },
  /**
   * Facts about how the account handles data, at most 16, such as `{ region: 'eu', zdr: true }`. They aren't verified. A change replaces all of them.
   */
  tags: { shape: dataTags, isOptional: true, inputs: removableAnywhere },
  /** The credential. The management API only shows its last four characters. */
  apiKey: {
    shape: text({ rules: 'credential' }),
    isOptional: true,
    isStored: false,
    sealedAs: 'sealedApiKey',
    inputs: removableAnywhere,
  },
  /** The credential, encrypted for its destination. */
  sealedApiKey: { shape: text(), isOptional: true, isShown: false },
  providerSpecificData: {
    shape: object(providerDataFields) as Shape<ProviderSpecificData>,
    isOptional: true,
    inputs: removableAnywhere,
  },
  /**
   * `true` queries the server once for its models, for at most 5 s, and stores them as `enabledModels`. If the server can't be queried, the change is
   * still made, and the given or stored models are kept. Default: `false`.
   */
  discover: { shape: flag, isOptional: true, isStored: false, isShown: false, inputs: settable },
  /** `code` if the connection is defined in the gateway's options, so it can't be changed here. Absent if it is stored. */
  source: { shape: choice(['code']), isOptional: true, isSynced: false, inputs: ignoredInUpdates },
  /** Identifies the last call that set `isActive`; each call writes a new ID. */
  edit: { shape: text(), isOptional: true, isShown: false },
  /** ISO 8601. */
  createdAt: { shape: time, inputs: ignoredInUpdates },
  /** ISO 8601. */
  updatedAt: { shape: time, inputs: ignoredInUpdates },
} as const satisfies RecordFields

/** Your account with a provider: a credential and a base URL. */
export interface Connection extends OutputOf<typeof connectionFields> {}

/** Fields of `providerSpecificData` that are also accepted at the top level of a connection. */
export const topLevelFieldNames = ['prefix', 'sharesPrefix', 'enabledModels', 'baseUrl', 'format'] as const
