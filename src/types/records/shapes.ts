/*
 * What the values of fields can be. A shape is plain data; the store makes a check of it (store/readings.ts), the management a schema
 * (management/schemas.ts). Limits hold for what is given; what is stored is read by its type alone.
 */

/** What a value can be; `T` is the type of the values. */
export type Shape<T = unknown> = ShapeData & {
  /** Never there: it carries the type. */
  readonly holds?: T
}

type ShapeData =
  | TextShape
  | NumberShape
  | ChoiceShape
  | ListShape
  | MapShape
  | ObjectShape
  | { readonly type: 'flag' }
  | TimeShape
  | { readonly type: 'entry' }

/** Text. Lengths are in UTF-16 units. */
export interface TextShape {
  readonly type: 'text'
  /** Are the blanks around it dropped? What is blank is refused then. */
  readonly isTrimmed?: boolean
  readonly isFilled?: boolean
  /** The most characters; with it control characters are refused. */
  readonly most?: number
  readonly pattern?: RegExp
  /** What texts of the pattern are; what is refused is told so. */
  readonly form?: TextForm
  /** Is it a part of a path, which cannot be `.` or `..`? */
  readonly isPathPart?: boolean
  /** Rules of its own, by this name. */
  readonly rules?: TextRules
}

/** The texts that have a pattern. */
export type TextForm = 'hostId' | 'comboName' | 'resource' | 'region' | 'project' | 'apiVersion' | 'deployment'

/** Texts with rules that are no data: the value of a client key, a provider's credential, an address. */
export type TextRules = 'clientKey' | 'credential' | 'address'

export interface NumberShape {
  readonly type: 'number'
  readonly least?: number
  /** It is larger than this. */
  readonly above?: number
  readonly most?: number
  readonly isWhole?: boolean
  /** Is any number above 0 used when it is stored? */
  readonly isReadAsAmount?: boolean
}

/** A time in ISO 8601. */
export interface TimeShape {
  readonly type: 'time'
  /** Is it given with its zone and at least its minutes, so that it is one moment everywhere? */
  readonly isExact?: boolean
}

/** One of several texts. */
export interface ChoiceShape {
  readonly type: 'choice'
  readonly of: readonly string[]
  /** Texts that are known where they are stored, and refused by words of their own when they are given. */
  readonly refused?: readonly RefusedChoice[]
  /** Is a text that is not known kept when it is stored? */
  readonly isOpen?: boolean
}

/** The choices that are known and refused. */
export type RefusedChoice = 'conditional' | 'round-robin'

/** What the items of lists are. */
export type ListItems = 'modelIds' | 'models' | 'entries' | 'kinds' | 'conditions' | 'tiers'

export interface ListShape {
  readonly type: 'list'
  readonly of: Shape
  readonly items: ListItems
  readonly most: number
  /** Must it name something? */
  readonly isFilled?: boolean
}

/** An object with freely chosen member names. */
export interface MapShape {
  readonly type: 'map'
  readonly name: Shape<string>
  readonly of: Shape
  readonly most: number
}

/** An object with these members. */
export interface ObjectShape {
  readonly type: 'object'
  readonly fields: Members
  /** Is what it holds checked where it is used, and not when the record is read? */
  readonly isReadWhole?: boolean
  /** Must it have a member? */
  readonly isFilled?: boolean
  /** What its members must be together, by this name. */
  readonly rules?: 'cooldowns' | 'prices'
}

/** The members of an object. */
export type Members = Readonly<Record<string, Member>>

/** A member of an object. */
export interface Member<T = unknown> {
  readonly shape: Shape<T>
  /** May it be missing? */
  readonly isOptional?: boolean
}

/** The type of the values of a field or a member. */
export type ValueOf<F> = F extends { readonly shape: { readonly holds?: infer T } } ? T : never

type OptionalIn<F> = { [N in keyof F]: F[N] extends { readonly isOptional: true } ? N : never }[keyof F]

/** An object of these members, of the names in `N`. */
export type ObjectOf<F, N extends keyof F = keyof F> = {
  -readonly [P in Exclude<N, OptionalIn<F>>]: ValueOf<F[P]>
} & { -readonly [P in Extract<N, OptionalIn<F>>]?: ValueOf<F[P]> }

export const flag: Shape<boolean> = { type: 'flag' }

/** A time in ISO 8601. */
export const time: Shape<string> = { type: 'time' }

/** A moment in ISO 8601, with its zone. */
export const moment: Shape<string> = { type: 'time', isExact: true }

export const text = (rules: Omit<TextShape, 'type'> = {}): Shape<string> => ({ type: 'text', ...rules })

/** A name for people, without the blanks around it. */
export const name = (most: number, rules: Pick<TextShape, 'isPathPart'> = {}): Shape<string> =>
  text({ isTrimmed: true, isFilled: true, most, ...rules })

/** The id of a record, as it is stored. */
export const storedId: Shape<string> = text({ isFilled: true, most: 512 })

/** The id of a record that a host has chosen; it is part of paths. */
export const hostId: Shape<string> = text({ pattern: /^[\w.-]{1,200}$/, form: 'hostId', isPathPart: true })

/** Text of a form, without the blanks around it. */
export const formed = (form: TextForm, pattern: RegExp): Shape<string> => text({ isTrimmed: true, pattern, form })

/** Any number that is finite. */
export const number: Shape<number> = { type: 'number' }

/** A whole number, both ends included. */
export const whole = (least: number, most: number): Shape<number> & NumberShape => ({
  type: 'number',
  isWhole: true,
  least,
  most,
})

export const choice = <const T extends string>(
  of: readonly T[],
  rules: Pick<ChoiceShape, 'refused' | 'isOpen'> = {},
): Shape<T> => ({ type: 'choice', of, ...rules })

export const list = <T>(of: Shape<T>, rules: Pick<ListShape, 'items' | 'most' | 'isFilled'>): Shape<T[]> => ({
  type: 'list',
  of,
  ...rules,
})

/** Values under freely chosen names. */
export const map = <T>(rules: Omit<MapShape, 'type' | 'of'> & { of: Shape<T> }): Shape<Record<string, T>> => ({
  type: 'map',
  ...rules,
})

export const object = <const F extends Members>(
  fields: F,
  rules: Pick<ObjectShape, 'isReadWhole' | 'isFilled' | 'rules'> = {},
): Shape<ObjectOf<F>> => ({ type: 'object', fields, ...rules })
