/*
 * The values that fields can have. A shape is plain data that defines how stored records are read (records/readings.ts), the input schemas
 * (admin/schemas.ts), and the result types in the OpenAPI document. Limits only apply to inputs; stored values are read by type.
 */

/** The values that a field can have; `T` is their type. */
export type Shape<T = unknown> = ShapeData & {
  /** Never set; exists only for type inference. */
  readonly valueType?: T
}

type ShapeData =
  | TextShape
  | NumberShape
  | ChoiceShape
  | ListShape
  | MapShape
  | ObjectShape
  | { readonly type: 'flag' }
  | { readonly type: 'tag' }
  | TimeShape
  | { readonly type: 'entry' }

/** A string. Lengths are in UTF-16 units. */
export interface TextShape {
  readonly type: 'text'
  /** Whether all characters are allowed and count toward the length, including blanks: any string of 1 to `max` characters. */
  readonly isLiteral?: true
  /** Whether surrounding whitespace is removed and blank strings are rejected. */
  readonly isTrimmed?: boolean
  readonly isNonEmpty?: boolean
  /** Maximum length. If set, control characters are also rejected. */
  readonly max?: number
  readonly pattern?: RegExp
  /** Describes the strings that match the pattern, for the error message. */
  readonly form?: TextForm
  /** Whether the string is a path segment, which can't be `.` or `..`. */
  readonly isPathSegment?: boolean
  /** Replaces all other rules. */
  readonly rules?: TextRules
}

/** The kinds of strings that have a pattern. */
export type TextForm =
  | 'customId'
  | 'guardName'
  | 'tagName'
  | 'comboName'
  | 'resource'
  | 'region'
  | 'project'
  | 'apiVersion'
  | 'deployment'

/** Strings with rules in code: an API key's value, a provider's credential, a base URL. */
export type TextRules = 'clientKey' | 'credential' | 'address'

export interface NumberShape {
  readonly type: 'number'
  readonly min?: number
  /** Exclusive minimum. */
  readonly above?: number
  readonly max?: number
  readonly isInteger?: boolean
  /** Whether any stored number above 0 is accepted. */
  readonly isReadAsAmount?: boolean
}

/** A time in ISO 8601. */
export interface TimeShape {
  readonly type: 'time'
  /** Whether inputs need a time zone and at least minutes, so they mean the same moment everywhere. */
  readonly isExact?: boolean
}

/** One of several strings. */
export interface ChoiceShape {
  readonly type: 'choice'
  readonly of: readonly string[]
  /** Strings that stored records can have but inputs can't, with their own error messages. */
  readonly disallowed?: readonly DisallowedValue[]
  /** Whether unknown strings in stored records are kept. */
  readonly isOpen?: boolean
  /** An object that is also accepted. */
  readonly orObject?: ObjectShape
}

/** The strings that inputs can't have. */
export type DisallowedValue = 'function' | 'conditional' | 'round-robin'

/** The contents of lists, for error messages. */
export type ListItems = 'modelIds' | 'models' | 'entries' | 'kinds' | 'conditions' | 'tiers' | 'guards' | 'texts'

export interface ListShape {
  readonly type: 'list'
  readonly of: Shape
  readonly items: ListItems
  readonly max: number
  /** Whether empty lists are rejected. */
  readonly isNonEmpty?: boolean
  /** Whether an invalid item makes an entire stored list invalid. */
  readonly isAllOrNothing?: boolean
}

/** An object with any field names. */
export interface MapShape {
  readonly type: 'map'
  readonly name: Shape<string>
  readonly of: Shape
  readonly max: number
}

/** An object with these fields. */
export interface ObjectShape {
  readonly type: 'object'
  readonly fields: ShapeFields
  /** Whether the code that uses the object checks its fields, instead of the record reader. */
  readonly isCheckedOnUse?: boolean
  /** Whether empty objects are rejected. */
  readonly isNonEmpty?: boolean
  /** Whether all other fields are also allowed. */
  readonly isOpen?: boolean
  /** A rule that covers several fields. */
  readonly rules?: 'cooldowns' | 'prices'
}

/** The fields of an object. */
export type ShapeFields = Readonly<Record<string, ShapeField>>

/** An object field. */
export interface ShapeField<T = unknown> {
  readonly shape: Shape<T>
  readonly isOptional?: boolean
}

/** The type of a field's values. */
export type ValueOf<F> = F extends { readonly shape: { readonly valueType?: infer T } } ? T : never

type OptionalNames<F> = { [N in keyof F]: F[N] extends { readonly isOptional: true } ? N : never }[keyof F]

export type ObjectOf<F, N extends keyof F = keyof F> = {
  -readonly [P in Exclude<N, OptionalNames<F>>]: ValueOf<F[P]>
} & { -readonly [P in Extract<N, OptionalNames<F>>]?: ValueOf<F[P]> }

export const flag: Shape<boolean> = { type: 'flag' }

/** A tag's value: `true`, `false`, or a string of 1 to 64 characters. */
export const tag: Shape<string | boolean> = { type: 'tag' }

/** A time in ISO 8601. */
export const time: Shape<string> = { type: 'time' }

/** A time in ISO 8601 with a time zone. */
export const exactTime: Shape<string> = { type: 'time', isExact: true }

export const text = (rules: Omit<TextShape, 'type'> = {}): Shape<string> => ({ type: 'text', ...rules })

/** Creates the shape of a display name; surrounding whitespace is removed. */
export const name = (max: number, rules: Pick<TextShape, 'isPathSegment'> = {}): Shape<string> =>
  text({ isTrimmed: true, isNonEmpty: true, max, ...rules })

/** The ID of a stored record. */
export const storedId: Shape<string> = text({ isNonEmpty: true, max: 512 })

/** The ID of a record, chosen by the app. It can be part of a URL. */
export const customId: Shape<string> = text({ pattern: /^[\w.-]{1,200}$/, form: 'customId', isPathSegment: true })

/** Creates the shape of a string with a pattern; surrounding whitespace is removed. */
export const patternText = (form: TextForm, pattern: RegExp): Shape<string> => text({ isTrimmed: true, pattern, form })

/** Any finite number. */
export const number: Shape<number> = { type: 'number' }

/** Creates the shape of an integer in an inclusive range. */
export const integer = (min: number, max: number): Shape<number> & NumberShape => ({
  type: 'number',
  isInteger: true,
  min,
  max,
})

export const choice = <const T extends string>(
  values: readonly T[],
  rules: Pick<ChoiceShape, 'disallowed' | 'isOpen' | 'orObject'> = {},
): Shape<T> => ({ type: 'choice', of: values, ...rules })

export const list = <T>(item: Shape<T>, rules: Omit<ListShape, 'type' | 'of'>): Shape<T[]> => ({
  type: 'list',
  of: item,
  ...rules,
})

/** Creates the shape of an object with any field names and values of one shape. */
export const map = <T>(rules: Omit<MapShape, 'type' | 'of'> & { of: Shape<T> }): Shape<Record<string, T>> => ({
  type: 'map',
  ...rules,
})

export const object = <const F extends ShapeFields>(
  fields: F,
  rules: Omit<ObjectShape, 'type' | 'fields'> = {},
): Shape<ObjectOf<F>> => ({ type: 'object', fields, ...rules })
