import { cachingField } from './caching-fields.ts'
import { allowedKinds, allowedModels, ownerMetadata, usageLimits } from './limit-fields.ts'
import {
  type InputOf,
  ignoredInUpdates,
  type OutputOf,
  type RecordFields,
  removable,
  settable,
} from './record-fields.ts'
import { flag, name, storedId, text, time } from './shapes.ts'
import { dataTags } from './tag-fields.ts'

/** The fields of an account: one of your app's users or customers. */
export const accountFields = {
  /** The pseudonym of `id`, under which everything about the account is stored. */
  ref: { shape: text(), isStorageKey: true, signatureVersion: 1, inputs: ignoredInUpdates },
  /** Your app's ID for the account. Stored encrypted, with `name` and `metadata`. */
  id: { shape: text(), isStored: false, inputs: { update: 'ignored', put: 'required' } },
  /** A display name. */
  name: { shape: name(200), isOptional: true, isStored: false, inputs: removable },
  /** The ID of a group that serves as the account's price plan. If absent, your app chooses the plan, or `accounts.defaultPlan` applies. */
  plan: { shape: storedId, isOptional: true, signatureVersion: 1, inputs: removable },
  /** Only an explicit `false` means paused, in which case the account's requests are rejected. */
  isActive: {
    shape: flag,
    isOptional: true,
    fallback: true,
    missingValue: true,
    signatureVersion: 1,
    inputs: settable,
  },
  /** The account's own limits, in addition to the plan's limits for each account; the lower one applies. A change replaces all of them. */
  limits: { shape: usageLimits, isOptional: true, signatureVersion: 1, inputs: removable },
  /** The models that the account may use. Both the account and its plan must allow a request. */
  models: { shape: allowedModels, isOptional: true, signatureVersion: 1, inputs: removable },
  /** The kinds of models that the account may use. Both the account and its plan must allow a request. */
  kinds: { shape: allowedKinds, isOptional: true, signatureVersion: 1, inputs: removable },
  /** The tags that connections must have to serve the account's requests, in addition to the plan's. A change replaces all of them. */
  require: { shape: dataTags, isOptional: true, signatureVersion: 2, inputs: removable },
  /** Whether the gateway asks providers to cache the prompts of the account's requests. Default: the plan's setting. */
  promptCaching: { ...cachingField, inputs: removable },
  /** Your own strings by name, like a key's. A change replaces all of them. */
  metadata: { shape: ownerMetadata, isOptional: true, isStored: false, inputs: removable },
  /** The account's cached identities and tokens from before this time, in ISO 8601, are revoked. */
  tokensFrom: { shape: time, isOptional: true, signatureVersion: 1, inputs: ignoredInUpdates },
  /** ISO 8601. */
  createdAt: { shape: time, inputs: ignoredInUpdates },
  /** The UTC day of the account's latest request. Absent before the first request. */
  seenOn: { shape: text(), isOptional: true, inputs: ignoredInUpdates },
  /** Whether the management API created or changed the record, in which case it doesn't expire. */
  isManaged: { shape: flag, isOptional: true, fallback: false, inputs: ignoredInUpdates },
  /** When the account was deleted, in ISO 8601. Afterward, only its ID remains, for stored usage. */
  deletedAt: { shape: time, isOptional: true, signatureVersion: 1, isShown: false },
  /** The account's ID, name, and metadata, encrypted together. */
  sealedProfile: { shape: text(), isShown: false },
  /** The signature that covers the signed fields (records/signatures.ts). */
  mac: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** One of your app's users or customers. */
export interface AppAccount extends OutputOf<typeof accountFields> {}

/** A change to an account; omitted fields stay the same, `null` removes a field. */
export interface AppAccountChange extends InputOf<typeof accountFields, 'update'> {}

/** Input of `put`, which creates or changes an account. */
export interface AccountPut extends InputOf<typeof accountFields, 'put'> {}
