import { cachingField } from './caching-fields.ts'
import { allowedKinds, allowedModels, guardNames, ownerMetadata, usageLimits } from './limit-fields.ts'
import { type InputOf, type OutputOf, type RecordFields, removable, requiredToCreate } from './record-fields.ts'
import { customId, exactTime, flag, name, object, storedId, text, time } from './shapes.ts'
import { dataTags } from './tag-fields.ts'

/** The fields of an API key. */
export const keyFields = {
  id: {
    shape: storedId,
    isEssential: true,
    signatureVersion: 1,
    inputs: { put: { as: 'optional', shape: customId } },
  },
  name: { shape: name(200), inputs: requiredToCreate },
  /** The complete key, as clients send it. */
  key: { shape: text({ rules: 'clientKey' }), isStored: false, sealedAs: 'sealedKey', inputs: { put: 'optional' } },
  /** Only an explicit `false` means paused. */
  isActive: {
    shape: flag,
    isOptional: true,
    fallback: true,
    missingValue: true,
    signatureVersion: 1,
    isSynced: false,
    inputs: { update: 'optional', put: 'optional' },
  },
  /** ISO 8601. */
  createdAt: { shape: time },
  /** Your own strings by name, at most 16: names up to 64 characters, values up to 512. A change replaces all of them. */
  metadata: {
    shape: ownerMetadata,
    isOptional: true,
    inputs: removable,
  },
  /** When the key expires, in ISO 8601 with a time zone. Later requests get a 401 `key_expired`; in-flight requests continue. */
  expiresAt: { shape: exactTime, isOptional: true, signatureVersion: 2, inputs: removable },
  /** Names of the models, combos, and aliases that the key may use; `*` matches any text. If absent, all are allowed. */
  models: { shape: allowedModels, isOptional: true, signatureVersion: 2, inputs: removable },
  /** The kinds of models that the key may use. If absent, all are allowed. */
  kinds: { shape: allowedKinds, isOptional: true, signatureVersion: 2, inputs: removable },
  /** The ID of the key's group. All keys in a group share its limits. */
  group: { shape: storedId, isOptional: true, signatureVersion: 2, inputs: removable },
  /** The ref of the account that the key belongs to, whose limits also apply. A key can't belong to both a group and an account. Not synced. */
  account: {
    shape: storedId,
    isOptional: true,
    signatureVersion: 3,
    isSynced: false,
    inputs: { create: 'optional', put: 'optional' },
  },
  /**
   * Lets a remote app send requests for accounts, each with the account's ID in `x-signalbox-account`. `plan` is the ID of the group that serves as
   * the price plan for accounts without one. The key's own limits and permissions also apply. Can't be combined with `account`. Not synced.
   */
  actsFor: {
    shape: object({ plan: { shape: storedId, isOptional: true } }),
    isOptional: true,
    signatureVersion: 4,
    isSynced: false,
    inputs: removable,
  },
  /** The tags that connections must have to serve the key's requests. A change replaces all of them. */
  require: { shape: dataTags, isOptional: true, signatureVersion: 5, inputs: removable },
  /** Names of guards that check the key's requests, in addition to the guards that the settings, its group, and combos name. */
  guards: { shape: guardNames, isOptional: true, signatureVersion: 6, inputs: removable },
  /** Names of guards that don't check the key's requests, even if the settings, its group, or a combo name them. */
  guardsExcept: { shape: guardNames, isOptional: true, signatureVersion: 6, inputs: removable },
  /** Whether the gateway asks providers to cache the key's prompts. Takes precedence over entries, connections, and the settings. */
  promptCaching: { ...cachingField, inputs: removable },
  /** The key's limits. A change replaces all of them. */
  limits: { shape: usageLimits, isOptional: true, signatureVersion: 2, inputs: removable },
  /** The key's encrypted value. Empty if the value isn't stored here. */
  sealedKey: { shape: text(), isShown: false },
  /** The SHA-256 of the value in hex, if the value isn't stored here. A cloud proxy needs nothing else. */
  sha256: { shape: text(), isOptional: true, isShown: false },
  /** The signature that covers the signed fields (records/signatures.ts): only the MAC in version 1, and `<version>:<MAC>` in later versions. */
  mac: { shape: text(), isOptional: true, isShown: false },
  /** Identifies the last call that set `isActive`; each call writes a new ID. */
  edit: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** A client's API key, as the management API returns it (src/rules.md, Client keys). */
export interface ApiKey extends OutputOf<typeof keyFields> {}

/** Input to create an API key. */
export interface NewKey extends InputOf<typeof keyFields, 'create'> {}

/** A change to an API key; omitted fields stay the same. */
export interface KeyChange extends InputOf<typeof keyFields, 'update'> {}

/** Input of `put`, which creates or changes a key. */
export interface KeyPut extends InputOf<typeof keyFields, 'put'> {}
