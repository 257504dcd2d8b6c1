import { vendorForms, wireFormats } from '../unions.ts'
import { free, type RecordFields, removableAnywhere, type ShownOf, sentBack } from './fields.ts'
import { prices } from './prices.ts'
import {
  choice,
  flag,
  formed,
  hostId,
  list,
  map,
  name,
  number,
  type ObjectOf,
  object,
  type Shape,
  storedId,
  text,
  time,
} from './shapes.ts'

/** The id of a model to list. */
export const enabledModel = text({ most: 512 })
export const MAX_ENABLED = 5_000

/** The provider's names of voices, by the names that clients send. */
export const voices = map({
  name: text({ isFilled: true, most: 64 }),
  of: text({ isFilled: true, most: 200 }),
  most: 200,
})

export const dataMembers = {
  /** The prefix of the connection's models in the listing; default: the provider's alias. */
  prefix: { shape: text({ most: 200 }), isOptional: true },
  /** May `prefix` be a name of another provider, so that requests for one reach the other as well? Default: such a prefix is refused. */
  sharesPrefix: { shape: flag, isOptional: true },
  /** The ids of the models to list; default: those of the catalog, or those that a compatible provider reports. */
  enabledModels: {
    shape: list(enabledModel, { items: 'modelIds', most: MAX_ENABLED }),
    isOptional: true,
  },
  /** Base address of the provider, with its version segment; default: that of the catalog. */
  baseUrl: { shape: text({ isTrimmed: true, rules: 'address' }), isOptional: true },
  /**
   * The format in which the server is called; default: the provider's. The name of a vendor's form, such as `tei`, sets the form for all kinds but
   * chat, which then uses `openai-chat`.
   */
  format: { shape: choice([...wireFormats, ...vendorForms]), isOptional: true },
  /** Azure: the name in `https://<resource>.openai.azure.com`. Required there, unless `baseUrl` is given. */
  resource: {
    shape: formed('resource', /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/),
    isOptional: true,
  },
  /** Bedrock: required, such as `us-east-1`. Vertex AI: default `global`. */
  region: { shape: formed('region', /^[a-z0-9-]{2,40}$/), isOptional: true },
  /** Vertex AI: the project's id. Required, unless the key file of a service account names it or `apiKey` is an API key. */
  project: {
    shape: formed('project', /^[a-z0-9][a-z0-9.:-]{0,62}$/),
    isOptional: true,
  },
  /** Azure: sent as `api-version`. A dated one (`2024-10-21`) selects the older address, `/openai/deployments/…`. */
  apiVersion: { shape: formed('apiVersion', /^[\w.-]{1,40}$/), isOptional: true },
  /** Azure: the deployment that answers; default: the one called like the model. */
  deployment: { shape: formed('deployment', /^[\w.-]{1,64}$/), isOptional: true },
  /** Speech: the provider's voices by the names that clients say, such as `alloy`. Those of a combo's entry come before. */
  voices: { shape: voices, isOptional: true },
} as const

/** The settings of one connection, beyond the definition of its provider. */
export interface ProviderSpecificData extends ObjectOf<typeof dataMembers> {}

/** The fields of a connection. */
export const connectionFields = {
  /** A provider id of the catalog, one that starts with `openai-compatible` or `anthropic-compatible`, or any other beside a `baseUrl`. */
  provider: {
    shape: name(200),
    isEssential: true,
    given: { create: 'required', update: { as: 'same', shape: text() }, put: 'required' },
  },
  id: {
    shape: storedId,
    isSlot: true,
    given: { update: { as: 'same', shape: text() }, put: { as: 'required', shape: hostId } },
  },
  name: { shape: name(200), readFrom: 'provider', given: free },
  /** Only `false` excludes the connection. */
  isActive: { shape: flag, isOptional: true, readAs: true, isMirrored: false, given: free },
  /** `true` keeps new requests away, and lets those under way and the sessions that are here go on. */
  draining: { shape: flag, isOptional: true, given: free },
  /** Lower comes first, none comes last; among equals the oldest connection comes first. */
  priority: {
    shape: number,
    isOptional: true,
    given: removableAnywhere,
  },
  /** The prices of its models, by their ids at the provider; they replace those of the catalog. */
  prices: {
    shape: map({ name: text({ isFilled: true, most: 512 }), of: prices, most: MAX_ENABLED }),
    isOptional: true,
    given: removableAnywhere,
  },
  /** The credential. In answers of the management API: its last four characters only. */
  apiKey: {
    shape: text({ rules: 'credential' }),
    isOptional: true,
    isStored: false,
    sealedAs: 'sealedApiKey',
    given: removableAnywhere,
  },
  /** The credential, encrypted for where it is sent. */
  sealedApiKey: { shape: text(), isOptional: true, isShown: false },
  providerSpecificData: {
    shape: object(dataMembers) as Shape<ProviderSpecificData>,
    isOptional: true,
    given: removableAnywhere,
  },
  /**
   * `true` asks the server once for its models, for at most 5 s, and keeps them as `enabledModels`. If the server cannot be asked, the change is made
   * all the same, and the models that are given or stored stay. Default `false`.
   */
  discover: { shape: flag, isOptional: true, isStored: false, isShown: false, given: free },
  /** A mark of the last call that set `isActive`; each such call writes a new one. */
  edit: { shape: text(), isOptional: true, isShown: false },
  /** ISO 8601. */
  createdAt: { shape: time, given: sentBack },
  /** ISO 8601. */
  updatedAt: { shape: time, given: sentBack },
} as const satisfies RecordFields

/** One account at a provider. */
export interface Connection extends ShownOf<typeof connectionFields> {}

/** The members of `providerSpecificData` that a connection may carry at its top level as well. */
export const topLevelMembers = ['prefix', 'sharesPrefix', 'enabledModels', 'baseUrl', 'format'] as const
