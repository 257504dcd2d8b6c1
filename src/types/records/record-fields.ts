import type { ObjectOf, Shape, ValueOf } from './shapes.ts'

/*
 * A kind of record is described by its fields, each once: a line in `keys.ts`, `connections.ts` and the others of this folder. From it come the
 * public type, what is read from the store (store/readings.ts), the proof (store/proofs.ts), the schemas of inputs and answers
 * (management/schemas.ts), what is mirrored (sync/forms.ts); and with what `api-words.ts` and `command-words.ts` say to people, the description
 * of the API and the options and tables of the command.
 */

/** One field of a kind of record. Where it does not say otherwise it is required, stored, shown and mirrored, not guarded, and cannot be given. */
export interface RecordField<T = unknown> {
  readonly shape: Shape<T>
  /** The name that earlier builds stored it under. It is still read, and it is the name in the proof. */
  readonly formerName?: string
  /** May it be missing? */
  readonly isOptional?: boolean
  /** What a stored value that cannot be read is read as. Default: the empty text, the beginning of 1970, or nothing where it may be missing. */
  readonly readAs?: T
  /** What holds where it is missing, for the proof. */
  readonly absent?: T
  /** `false`: it is made from others, or for an answer. */
  readonly isStored?: false
  /** `false`: it stays in the store. */
  readonly isShown?: false
  /** Is a record without it of no use? It is passed over. */
  readonly isEssential?: true
  /** Is it what the record is filed under? */
  readonly isSlot?: true
  /** The required field that is read in its place when it cannot be read, or what the record is filed under. */
  readonly readFrom?: string
  /**
   * The version of the proof since which it is part of it. A field that is added gets the next version: records without it keep the proof
   * they have, and an earlier release refuses a record that has it.
   */
  readonly guard?: number
  /** The field that holds it sealed; it is a secret. */
  readonly sealedAs?: string
  /** `false`: it is not mirrored at a cloud, or apart from the rest. What stays in the store is not either. */
  readonly isMirrored?: false
  /** How it can be given; by the door. */
  readonly given?: Doors
}

export type RecordFields = Readonly<Record<string, RecordField>>

/** What can be called to change a record. */
export type Door = 'create' | 'update' | 'put'

/**
 * `required`, `optional`; `removable`: optional, and `null` removes it; `merged`: an object that is changed member by member, where `null`
 * removes one or all; `same`: may be sent back as it is; `ignored`: the same, unchecked; `refused`: known and always refused.
 */
export type Way = 'required' | 'optional' | 'removable' | 'merged' | 'same' | 'ignored' | 'refused'

/** A way; by a shape of its own where what is given differs from what is stored. */
type Passage = Way | { readonly as: Way; readonly shape: Shape }

export type Doors = Readonly<Partial<Record<Door, Passage>>>

/** A field that has to be given once. */
export const needed = { create: 'required', update: 'optional', put: 'required' } as const
/** A field that may be given, and stays from then on. */
export const free = { create: 'optional', update: 'optional', put: 'optional' } as const
/** A field that may be given and removed. */
export const removable = { create: 'optional', update: 'removable', put: 'removable' } as const
/** The same, where `null` counts as absent for a new record. */
export const removableAnywhere = { create: 'removable', update: 'removable', put: 'removable' } as const
/** A field that may be sent back with a change, and is ignored. */
export const sentBack = { update: 'ignored' } as const

/** The public type of a kind of record. */
export type ShownOf<F> = ObjectOf<F, ShownNames<F>>

/** The names of the fields that answers have. */
export type ShownNames<F> = { [N in keyof F]: F[N] extends { readonly isShown: false } ? never : N }[keyof F]

/** The type of a stored record. */
export type StoredOf<F> = ObjectOf<
  F,
  { [N in keyof F]: F[N] extends { readonly isStored: false } ? never : N }[keyof F]
>

/** By which way a field comes through a door. */
export type WayOf<F, D extends Door> = F extends { readonly given: infer G }
  ? G extends { readonly [P in D]: infer P }
    ? P extends { readonly as: infer W }
      ? W
      : P
    : never
  : never

type NamesBy<F, D extends Door, W extends Way> = {
  [N in keyof F]: WayOf<F[N], D> extends infer Found
    ? [Found] extends [never]
      ? never
      : Found extends W
        ? N
        : never
    : never
}[keyof F]

/** The input of a door. */
export type InputOf<F, D extends Door> = { -readonly [N in NamesBy<F, D, 'required'>]: ValueOf<F[N]> } & {
  -readonly [N in NamesBy<F, D, 'optional' | 'same'>]?: ValueOf<F[N]>
} & { -readonly [N in NamesBy<F, D, 'removable'>]?: ValueOf<F[N]> | null } & {
  -readonly [N in NamesBy<F, D, 'merged'>]?: Nullable<ValueOf<F[N]>> | null
} & { -readonly [N in NamesBy<F, D, 'ignored'>]?: unknown }

type Nullable<T> = { [Member in keyof T]?: T[Member] | null }

/** The names of the fields that people see: in answers, or as what they can give. */
export type SeenNames<F> =
  | ShownNames<F>
  | { [N in keyof F]: F[N] extends { readonly given: object } ? N : never }[keyof F]
