import { cachingField } from './caching-fields.ts'
import { allowedKinds, allowedModels, ownerTexts, usageLimits } from './limit-fields.ts'
import {
  type InputOf,
  ignoredInUpdates,
  type RecordFields,
  removable,
  type ShownOf,
  settable,
} from './record-fields.ts'
import { flag, name, storedId, text, time } from './shapes.ts'
import { dataTags } from './tag-fields.ts'

/** The fields of an account: one of your app's users or customers. */
export const accountFields = {
  /** The pseudonym of `id`, under which everything about the account is stored. */
  ref: { shape: text(), isStorageKey: true, guard: 1, inputs: ignoredInUpdates },
  /** Your own id. Stored encrypted, with `name` and `metadata`. */
  id: { shape: text(), isStored: false, inputs: { update: 'ignored', put: 'required' } },
  /** A display name. */
  name: { shape: name(200), isOptional: true, isStored: false, inputs: removable },
  /** The id of a group that serves as its price plan. Absent: the plan that your app specifies, or `accounts.defaultPlan`. */
  plan: { shape: storedId, isOptional: true, guard: 1, inputs: removable },
  /** Only an explicit `false` means paused: its requests are rejected. */
  isActive: { shape: flag, isOptional: true, fallback: true, missingValue: true, guard: 1, inputs: settable },
  /** Its own limits, in addition to the plan's limits for each account; the lower one applies. A change replaces all of them. */
  limits: { shape: usageLimits, isOptional: true, guard: 1, inputs: removable },
  /** The models that it may use. Both the account and its plan must allow a request. */
  models: { shape: allowedModels, isOptional: true, guard: 1, inputs: removable },
  /** The kinds of models that it may use. Both the account and its plan must allow a request. */
  kinds: { shape: allowedKinds, isOptional: true, guard: 1, inputs: removable },
  /** The tags that connections must have to serve its requests, in addition to its plan's. A change replaces all of them. */
  require: { shape: dataTags, isOptional: true, guard: 2, inputs: removable },
  /** Whether the gateway asks providers to cache the prompts of its requests. Default: the plan's. */
  promptCaching: { ...cachingField, inputs: removable },
  /** Your own strings by name, like a key's. Replaced as a whole. */
  metadata: { shape: ownerTexts, isOptional: true, isStored: false, inputs: removable },
  /** Cached identities and tokens from before this time are no longer valid. ISO 8601. */
  tokensFrom: { shape: time, isOptional: true, guard: 1, inputs: ignoredInUpdates },
  /** ISO 8601. */
  createdAt: { shape: time, inputs: ignoredInUpdates },
  /** The day of its latest requests, in UTC; absent if it had none yet. */
  seenOn: { shape: text(), isOptional: true, inputs: ignoredInUpdates },
  /** Whether the management API created or changed the record, in which case it doesn't expire. */
  isManaged: { shape: flag, isOptional: true, fallback: false, inputs: ignoredInUpdates },
  /** When it was deleted. Afterward, only its id remains, for stored usage. ISO 8601. */
  deletedAt: { shape: time, isOptional: true, guard: 1, isShown: false },
  /** Your id, the name, and the metadata, encrypted together. */
  sealedProfile: { shape: text(), isShown: false },
  /** The signature of the guarded fields (records/signatures.ts). */
  mac: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** One of your app's users or customers. */
export interface AppAccount extends ShownOf<typeof accountFields> {}

/** A change to an account; omitted fields stay the same, `null` removes a field. */
export interface AppAccountChange extends InputOf<typeof accountFields, 'update'> {}

/** Input of `put`, which creates or changes an account. */
export interface AccountPut extends InputOf<typeof accountFields, 'put'> {}
