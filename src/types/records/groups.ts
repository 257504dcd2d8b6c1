import { free, type InputOf, needed, type RecordFields, removable, type ShownOf, sentBack } from './fields.ts'
import { allowedKinds, allowedModels, ownersTexts, usageLimits } from './limits.ts'
import { flag, hostId, name, storedId, text, time } from './shapes.ts'

/** The fields of a group of keys: a customer, a team, a plan. */
export const groupFields = {
  id: {
    shape: storedId,
    isSlot: true,
    guard: 1,
    given: { update: { as: 'same', shape: text() }, put: { as: 'optional', shape: hostId } },
  },
  name: { shape: name(200), readFrom: 'id', given: needed },
  /** Only an explicit `false` means paused: its keys are refused then. */
  isActive: {
    shape: flag,
    isOptional: true,
    readAs: true,
    absent: true,
    guard: 1,
    given: free,
  },
  /** The limits of all its keys together. A change replaces all of them. */
  limits: { shape: usageLimits, isOptional: true, guard: 1, given: removable },
  /** The models that its keys may use, as in a key. A request must be allowed by both lists. */
  models: { shape: allowedModels, isOptional: true, guard: 1, given: removable },
  /** The kinds of models that its keys may ask for, as in a key; both must allow it. */
  kinds: { shape: allowedKinds, isOptional: true, guard: 1, given: removable },
  /** Texts of the owner by name, as in a key. Set as a whole. */
  metadata: { shape: ownersTexts, isOptional: true, given: removable },
  /** ISO 8601. */
  createdAt: { shape: time, given: sentBack },
  /** The proof of the guarded fields (store/proofs.ts). */
  mac: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** A group of keys, which share its limits. */
export interface KeyGroup extends ShownOf<typeof groupFields> {}

/** A group to create. */
export interface NewGroup extends InputOf<typeof groupFields, 'create'> {}

/** A change of a group: absent members stay, `null` removes. */
export interface GroupChange extends InputOf<typeof groupFields, 'update'> {}

/** A group to create or change by `put`. */
export interface GroupPut extends InputOf<typeof groupFields, 'put'> {}
