import { type InputOf, needed, type RecordFields, removable, type ShownOf } from './fields.ts'
import { allowedKinds, allowedModels, ownersTexts, usageLimits } from './limits.ts'
import { flag, hostId, moment, name, storedId, text, time } from './shapes.ts'

/** The fields of an API key. */
export const keyFields = {
  id: {
    shape: storedId,
    isEssential: true,
    guard: 1,
    given: { put: { as: 'optional', shape: hostId } },
  },
  name: { shape: name(200), given: needed },
  /** The whole key, as clients send it. */
  key: { shape: text({ rules: 'clientKey' }), isStored: false, sealedAs: 'sealedKey', given: { put: 'optional' } },
  /** Only an explicit `false` means paused. */
  isActive: {
    shape: flag,
    isOptional: true,
    readAs: true,
    absent: true,
    guard: 1,
    isMirrored: false,
    given: { update: 'optional', put: 'optional' },
  },
  /** ISO 8601. */
  createdAt: { shape: time },
  /** Texts of the owner by name, at most 16: names of up to 64 characters, texts of up to 512. Set as a whole. */
  metadata: {
    shape: ownersTexts,
    isOptional: true,
    given: removable,
  },
  /** The time from which requests are refused with 401 `key_expired`; ISO 8601 with its zone. Requests that began before go on. */
  expiresAt: { shape: moment, isOptional: true, guard: 2, given: removable },
  /** The names of models, combos and aliases that it may use, in which `*` stands for any text. Absent: all. */
  models: { shape: allowedModels, isOptional: true, guard: 2, given: removable },
  /** The kinds of models that it may use. Absent: all. */
  kinds: { shape: allowedKinds, isOptional: true, guard: 2, given: removable },
  /** The id of the group that it belongs to, whose limits its keys share. */
  group: { shape: storedId, isOptional: true, guard: 2, given: removable },
  /** The limits of the key. A change replaces all of them. */
  limits: { shape: usageLimits, isOptional: true, guard: 2, given: removable },
  /** Empty when the value is not here. */
  sealedKey: { shape: text(), isShown: false },
  /** The SHA-256 of the value, in hex, where the value is not here: in the mirror at a cloud, which needs no more. */
  sha256: { shape: text(), isOptional: true, isShown: false },
  /** The proof of the guarded fields (store/proofs.ts): of version 1 the code alone, of each later one `<version>:<code>`. */
  mac: { shape: text(), isOptional: true, isShown: false },
  /** A mark of the last call that set `isActive`; each such call writes a new one. */
  edit: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** A client's API key as the management API shows it (src/rules.md, Client keys). */
export interface ApiKey extends ShownOf<typeof keyFields> {}

/** An API key to create. */
export interface NewKey extends InputOf<typeof keyFields, 'create'> {}

/** A change of an API key: absent members stay. */
export interface KeyChange extends InputOf<typeof keyFields, 'update'> {}

/** A key to create or change by `put`. */
export interface KeyPut extends InputOf<typeof keyFields, 'put'> {}
