import type { ObjectOf, Shape, ValueOf } from './shapes.ts'

/*
 * Each record field is described once, in `key-fields.ts`, `connection-fields.ts`, and so on. These descriptions define the public types, how stored
 * records are read (records/readings.ts), their signatures (records/signatures.ts), the input schemas (admin/schemas.ts), and the synced records
 * (features/cloud-sync/sync-codecs.ts). Together with `api-words.ts`, they also define the OpenAPI document and the CLI options.
 */

/** A record field. By default, it is required, stored, shown, synced, and unsigned, and inputs can't set it. */
export interface RecordField<T = unknown> {
  readonly shape: Shape<T>
  /** The field's name in earlier builds. It can still be read, and signatures use it. */
  readonly formerName?: string
  readonly isOptional?: boolean
  /** The value to use in place of an invalid stored value. Default: none if the field is optional, otherwise an empty string or the Unix epoch. */
  readonly fallback?: T
  /** The value that the signature uses for a missing field. */
  readonly missingValue?: T
  /** `false` if the field is computed. */
  readonly isStored?: false
  /** `false` if results omit the field. */
  readonly isShown?: false
  /** Whether records without the field are skipped. */
  readonly isEssential?: true
  /** Whether the field is the record's storage key. */
  readonly isStorageKey?: true
  /** The required field to copy the value from if this field's value is invalid; `storageKey` means the storage key. */
  readonly readFrom?: string
  /**
   * The first signature version that covers the field. A new field gets the next version: records without the field keep their signature, and earlier
   * releases reject records that have it.
   */
  readonly signatureVersion?: number
  /** The field that contains the encrypted value, because this field is a secret. */
  readonly sealedAs?: string
  /** `false` if cloud sync skips it or syncs it separately. Fields that aren't shown aren't synced, either. */
  readonly isSynced?: false
  /** How inputs set the field, by operation. */
  readonly inputs?: FieldInputs
}

export type RecordFields = Readonly<Record<string, RecordField>>

/** The operations that change a record. */
export type WriteOperation = 'create' | 'update' | 'put'

/**
 * How an input sets a field. `required`: must be set. `optional`: can be omitted. `removable`: optional, and `null` removes it. `merged`: an object
 * that is changed field by field, where `null` removes a field or the object. `same`: can be sent back unchanged. `ignored`: can be sent back, and
 * isn't checked. `refused`: always rejected.
 */
export type FieldUse = 'required' | 'optional' | 'removable' | 'merged' | 'same' | 'ignored' | 'refused'

/** How an input sets a field, with a separate shape if inputs differ from stored values. */
type FieldInput = FieldUse | { readonly as: FieldUse; readonly shape: Shape }

export type FieldInputs = Readonly<Partial<Record<WriteOperation, FieldInput>>>

/** A field that is required for new records. */
export const requiredToCreate = { create: 'required', update: 'optional', put: 'required' } as const
/** A field that can be set, but not removed. */
export const settable = { create: 'optional', update: 'optional', put: 'optional' } as const
/** A field that can be set and removed. */
export const removable = { create: 'optional', update: 'removable', put: 'removable' } as const
/** Like `removable`; for a new record, `null` is treated as omitted. */
export const removableAnywhere = { create: 'removable', update: 'removable', put: 'removable' } as const
/** A field that is ignored when sent back with a change. */
export const ignoredInUpdates = { update: 'ignored' } as const

/** A record's public type. */
export type OutputOf<F> = ObjectOf<F, OutputNames<F>>

/** The names of the fields in results. */
export type OutputNames<F> = { [N in keyof F]: F[N] extends { readonly isShown: false } ? never : N }[keyof F]

/** A stored record's type. */
export type StoredOf<F> = ObjectOf<
  F,
  { [N in keyof F]: F[N] extends { readonly isStored: false } ? never : N }[keyof F]
>

/** How an operation's input sets a field. */
export type FieldUseOf<F, D extends WriteOperation> = F extends { readonly inputs: infer G }
  ? G extends { readonly [P in D]: infer P }
    ? P extends { readonly as: infer W }
      ? W
      : P
    : never
  : never

type NamesByUse<F, D extends WriteOperation, W extends FieldUse> = {
  [N in keyof F]: FieldUseOf<F[N], D> extends infer Use
    ? [Use] extends [never]
      ? never
      : Use extends W
        ? N
        : never
    : never
}[keyof F]

/** An operation's input. */
export type InputOf<F, D extends WriteOperation> = { -readonly [N in NamesByUse<F, D, 'required'>]: ValueOf<F[N]> } & {
  -readonly [N in NamesByUse<F, D, 'optional' | 'same'>]?: ValueOf<F[N]>
} & { -readonly [N in NamesByUse<F, D, 'removable'>]?: ValueOf<F[N]> | null } & {
  -readonly [N in NamesByUse<F, D, 'merged'>]?: Nullable<ValueOf<F[N]>> | null
} & { -readonly [N in NamesByUse<F, D, 'ignored'>]?: unknown }

type Nullable<T> = { [Member in keyof T]?: T[Member] | null }

/** The names of the fields in results or inputs. */
export type VisibleNames<F> =
  | OutputNames<F>
  | { [N in keyof F]: F[N] extends { readonly inputs: object } ? N : never }[keyof F]
