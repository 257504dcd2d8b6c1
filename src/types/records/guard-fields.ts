import { guardName } from './limit-fields.ts'
import { type InputOf, ignoredInUpdates, type OutputOf, type RecordFields, removable } from './record-fields.ts'
import { choice, flag, list, map, object, type Shape, text, time } from './shapes.ts'

/** An option of a guard. */
export interface GuardOption<T = unknown> {
  readonly shape: Shape<T>
  readonly isOptional: boolean
}

const required = <T>(shape: Shape<T>) => ({ shape, isOptional: false }) as const
const optional = <T>(shape: Shape<T>) => ({ shape, isOptional: true }) as const

const word = text({ isNonEmpty: true, max: 200 })
const words = list(word, { items: 'texts', max: 1_000, isNonEmpty: true })
const count: Shape<number> = { type: 'number', min: 1, isInteger: true }
const choiceList = <const T extends string>(values: readonly T[]) =>
  list(choice(values), { items: 'texts', max: values.length, isNonEmpty: true })

/** Options common to all guard kinds. */
export const sharedGuardFields = {
  on: optional(choiceList(['request', 'answer'])),
  as: optional(choice(['error', 'answer'])),
  message: optional(text({ isTrimmed: true, isNonEmpty: true, max: 1_000 })),
  older: optional(choice(['remove', 'refuse'])),
  onError: optional(choice(['refuse', 'pass'])),
  stage: optional(choice(['before', 'during'])),
  timeoutMs: optional(count),
  mode: optional(choice(['enforce', 'watch'])),
  media: optional(choice(['pass', 'refuse'])),
  remote: optional(choice(['pass', 'refuse'])),
  hold: optional(choice(['window', 'all'])),
  maxMatch: optional(count),
} as const

const actionOption = { action: optional(choice(['refuse', 'mask', 'replace', 'remove'])) }

/** A JSON Schema. The guard checks its keywords. */
const jsonSchema: Shape<Record<string, unknown>> = object({}, { isOpen: true, isCheckedOnUse: true })
const longText = text({ isLiteral: true, max: 20_000 })
const parameters = object({
  temperature: { shape: { type: 'number', min: 0, max: 2 } as Shape<number>, isOptional: true },
  topP: { shape: { type: 'number', min: 0, max: 1 } as Shape<number>, isOptional: true },
  maxTokens: { shape: count, isOptional: true },
})

const providerHeader = optional(text({ isNonEmpty: true, max: 1_000 }))
/** The headers that a guard can add to provider calls. None of them is a credential or a connection-level header. */
const providerHeaders = {
  'anthropic-beta': providerHeader,
  'openai-beta': providerHeader,
  'openai-organization': providerHeader,
  'openai-project': providerHeader,
  'http-referer': providerHeader,
  'x-title': providerHeader,
  'user-agent': providerHeader,
} as const

/** The kinds of built-in guards, each with its options. Options with the same name have the same shape. */
export const guardKinds = {
  words: { words: required(words), ...actionOption },
  patterns: {
    patterns: required(list(text({ isNonEmpty: true, max: 1_000 }), { items: 'texts', max: 100, isNonEmpty: true })),
    flags: optional(choice(['i', 'm', 's', 'im', 'is', 'ms', 'ims'])),
    ...actionOption,
  },
  pii: { types: optional(choiceList(['email', 'card', 'iban', 'ssn', 'phone', 'ip'])), ...actionOption },
  secrets: actionOption,
  invisible: actionOption,
  size: {
    maxCharacters: optional(count),
    maxTurns: optional(count),
    maxTools: optional(count),
    maxMedia: optional(count),
  },
  tools: {
    allow: optional(words),
    deny: optional(words),
    arguments: optional(map({ name: word, of: jsonSchema, max: 100 })),
    hosted: optional(choice(['pass', 'refuse'])),
  },
  moderation: {
    model: required(word),
    thresholds: optional(map({ name: word, of: { type: 'number', min: 0, max: 1 } as Shape<number>, max: 100 })),
  },
  change: {
    prepend: optional(longText),
    append: optional(longText),
    set: optional(parameters),
    max: optional(parameters),
    providerHeaders: optional(object(providerHeaders, { isNonEmpty: true })),
  },
  http: {
    url: required(text({ isNonEmpty: true, max: 2_000 })),
    headers: optional(
      map({ name: text({ isNonEmpty: true, max: 100 }), of: text({ isTrimmed: true, max: 8_192 }), max: 20 }),
    ),
    changes: optional(flag),
    allowPrivate: optional(flag),
  },
  judge: {
    model: required(word),
    policy: optional(longText),
    template: optional(choice(['llama-guard', 'gpt-oss-safeguard'])),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, GuardOption>>>>

export type GuardKind = keyof typeof guardKinds

/** The options of all guard kinds combined. */
type KindOptions = Intersection<(typeof guardKinds)[GuardKind]>
type Intersection<U> = (U extends unknown ? (argument: U) => void : never) extends (intersection: infer All) => void
  ? All
  : never

type FieldsOf<Options> = {
  readonly [N in keyof Options]: {
    readonly shape: Options[N] extends GuardOption<infer T> ? Shape<T> : never
    readonly isOptional: true
    readonly inputs: typeof removable
  }
}

/** Converts options to fields. They are all optional, because the kind determines which ones a guard needs. */
const toFields = <Options extends object>(options: Options) =>
  Object.fromEntries(
    Object.entries(options).map(([field, { shape }]) => [field, { shape, isOptional: true, inputs: removable }]),
  ) as FieldsOf<Options> // the result has the same fields

/** The fields of a guard. */
export const guardFields = {
  /** The guard's name, which can't change, because settings, groups, keys, and combos refer to it. */
  name: {
    shape: guardName,
    isStorageKey: true,
    inputs: { create: 'required', update: { as: 'same', shape: text() }, put: 'required' },
  },
  kind: {
    shape: choice(Object.keys(guardKinds) as GuardKind[]),
    isEssential: true,
    inputs: { create: 'required', update: 'optional', put: 'required' },
  },
  ...toFields(sharedGuardFields),
  ...toFields<KindOptions>(Object.assign({}, ...Object.values(guardKinds))),
  /** Headers for calls to the service. The management API only shows the last four characters of each value. */
  headers: {
    shape: guardKinds.http.headers.shape,
    isOptional: true,
    isStored: false,
    sealedAs: 'sealedHeaders',
    inputs: removable,
  },
  /** The headers as JSON, encrypted for the service's URL. */
  sealedHeaders: { shape: text(), isOptional: true, isShown: false },
  /** `code` if the guard is defined in the gateway's options, so it can't be changed here. Absent if it is stored. */
  source: { shape: choice(['code']), isOptional: true, isSynced: false, inputs: ignoredInUpdates },
  /** ISO 8601. */
  createdAt: { shape: time, inputs: ignoredInUpdates },
  /** ISO 8601. */
  updatedAt: { shape: time, inputs: ignoredInUpdates },
  /** The record's signature (records/guard-records.ts). */
  mac: { shape: text(), isOptional: true, isShown: false },
} as const satisfies RecordFields

/** A built-in guard that is stored or defined in code. It checks a request if the settings or the request's group, key, or combo name it. */
export interface GuardRecord extends OutputOf<typeof guardFields> {}

/** Input to create a guard. */
export interface NewGuard extends InputOf<typeof guardFields, 'create'> {}

/** A change to a guard; omitted fields stay the same, `null` removes a field. */
export interface GuardRecordChange extends InputOf<typeof guardFields, 'update'> {}

/** Input of `put`, which creates or changes a guard. */
export interface GuardPut extends InputOf<typeof guardFields, 'put'> {}
