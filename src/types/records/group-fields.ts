import { cachingField } from './caching-fields.ts'
import { allowedKinds, allowedModels, guardNames, ownerMetadata, usageLimits } from './limit-fields.ts'
import {
  type InputOf,
  ignoredInUpdates,
  type OutputOf,
  type RecordFields,
  removable,
  requiredToCreate,
  settable,
} from './record-fields.ts'
import { choice, customId, flag, name, storedId, text, time } from './shapes.ts'
import { dataTags } from './tag-fields.ts'

/** The fields of a key group, such as a customer or a team, or of an account plan. */
export const groupFields = {
  id: {
    shape: storedId,
    isStorageKey: true,
    signatureVersion: 1,
    inputs: { update: { as: 'same', shape: text() }, put: { as: 'optional', shape: customId } },
  },
  name: { shape: name(200), readFrom: 'id', inputs: requiredToCreate },
  /** Only an explicit `false` means paused: the keys of a paused group are rejected. */
  isActive: {
    shape: flag,
    isOptional: true,
    fallback: true,
    missingValue: true,
    signatureVersion: 1,
    inputs: settable,
  },
  /** Limits shared by all keys in the group. A change replaces all of them. */
  limits: { shape: usageLimits, isOptional: true, signatureVersion: 1, inputs: removable },
  /** Limits that apply separately to each account with the group as its plan. A change replaces all of them. */
  each: { shape: usageLimits, isOptional: true, signatureVersion: 2, isSynced: false, inputs: removable },
  /** The models that the group's keys may use. Both the group and the key must allow a request. */
  models: { shape: allowedModels, isOptional: true, signatureVersion: 1, inputs: removable },
  /** The kinds of models that the group's keys may use. Both the group and the key must allow a request. */
  kinds: { shape: allowedKinds, isOptional: true, signatureVersion: 1, inputs: removable },
  /**
   * The tags that connections must have to serve requests from the group's keys, or from accounts with the group as their plan. A change replaces all
   * of them.
   */
  require: { shape: dataTags, isOptional: true, signatureVersion: 3, inputs: removable },
  /** Names of guards that check requests from the group's keys, or from accounts with the group as their plan. */
  guards: { shape: guardNames, isOptional: true, signatureVersion: 4, inputs: removable },
  /** Whether the gateway asks providers to cache the prompts of the group's keys, or of accounts with the group as their plan. */
  promptCaching: { ...cachingField, inputs: removable },
  /** Your own strings by name, like a key's. A change replaces all of them. */
  metadata: { shape: ownerMetadata, isOptional: true, inputs: removable },
  /** `code` if the group is defined in code, so it can't be changed. */
  source: { shape: choice(['code']), isOptional: true, isSynced: false, inputs: ignoredInUpdates },
  /** ISO 8601. */
  createdAt: { shape: time, inputs: ignoredInUpdates },
  /** The signature that covers the signed fields (records/signatures.ts). */
  mac: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** A group of keys that share its limits. */
export interface KeyGroup extends OutputOf<typeof groupFields> {}

/** Input to create a group. */
export interface NewGroup extends InputOf<typeof groupFields, 'create'> {}

/** A change to a group; omitted fields stay the same, `null` removes a field. */
export interface GroupChange extends InputOf<typeof groupFields, 'update'> {}

/** Input of `put`, which creates or changes a group. */
export interface GroupPut extends InputOf<typeof groupFields, 'put'> {}
