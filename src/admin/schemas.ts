import * as v from 'valibot'
import { listSyncedFields } from '../features/cloud-sync/sync-codecs.ts'
import { assertNever } from '../lib/assert-never.ts'
import { SENDABLE_PATTERN } from '../lib/credential-shapes.ts'
import {
  COOLDOWNS_MESSAGE,
  describeEmpty,
  describeFields,
  describeLiteral,
  describeNames,
  describeNumber,
  disallowedValueTexts,
  findBaseUrlProblem,
  findCredentialProblem,
  type ListMessages,
  listItems,
  MAX_CREDENTIAL_LENGTH,
  NO_DUPLICATES_MESSAGE,
  NO_PRICE_MESSAGE,
  textFormProblems,
} from '../lib/shape-texts.ts'
import { isClientKey } from '../records/key-format.ts'
import type { FieldUse, InputOf, RecordField, RecordFields, WriteOperation } from '../types/records/record-fields.ts'
import type {
  ListShape,
  MapShape,
  NumberShape,
  ObjectShape,
  Shape,
  TextRules,
  TextShape,
} from '../types/records/shapes.ts'
import { comboModelSchema, promptCachingSchema, tagValueSchema } from './combo-entry.ts'
import {
  type ClosedSchema,
  closedObject,
  createChoiceSchema,
  createIntegerSchema,
  describeText,
  fields,
  limitText,
  rejectArray,
  rejectDots,
} from './input.ts'

/* valibot schemas for inputs, created from field shapes. */

/** Creates the schema of an operation's input. `ignoredFields` lists fields of results that clients can send back. */
export function createInputSchema<const F extends RecordFields, D extends WriteOperation>(
  recordFields: F,
  operation: D,
  { ignoredFields = [] }: { ignoredFields?: readonly string[] } = {},
): ClosedSchema<InputOf<F, D>> {
  const entries = Object.entries<RecordField>(recordFields).flatMap(([name, field]) => {
    const fieldInput = getFieldInput(field, operation)
    return fieldInput
      ? [{ name, rank: getRank(fieldInput.as, field), schema: createEntry(fieldInput.as, fieldInput.shape) }]
      : []
  })
  entries.sort((a, b) => a.rank - b.rank)
  const schema: unknown = closedObject({
    ...Object.fromEntries(entries.map(({ name, schema }) => [name, schema])),
    ...Object.fromEntries(ignoredFields.map((name) => [name, fields.ignored])),
  })
  return schema as ClosedSchema<InputOf<F, D>> // the entries and the type come from the same fields
}

/** Returns how an operation's input sets a field, and the field's shape there, or `undefined` if the input can't set it. */
function getFieldInput(
  { inputs, shape }: RecordField,
  operation: WriteOperation,
): { as: FieldUse; shape: Shape } | undefined {
  const fieldInput = inputs?.[operation]
  return typeof fieldInput === 'object' ? fieldInput : fieldInput && { as: fieldInput, shape }
}

/** Returns a field's rank in messages: required fields come first, then fields that every record has, optional fields, and read-only fields. */
function getRank(use: FieldUse, { isOptional }: RecordField): number {
  if (use === 'required') return 0
  return use === 'same' || use === 'ignored' || use === 'refused' ? 3 : isOptional ? 2 : 1
}

function createEntry(use: FieldUse, shape: Shape): v.GenericSchema {
  switch (use) {
    case 'required':
      return createSchema(shape)
    case 'optional':
    case 'same':
      return v.exactOptional(createSchema(shape))
    case 'removable':
      return v.exactOptional(v.nullable(createSchema(shape)))
    case 'merged':
      return v.exactOptional(v.nullable(shape.type === 'object' ? createChangeSchema(shape) : createSchema(shape)))
    case 'ignored':
      return fields.ignored
    case 'refused':
      return fields.byAction
    default:
      return assertNever(use)
  }
}

/** Creates the entries of a synced record's schema. Fields that have a replacement for invalid values are optional, unless all are required. */
export function createSyncedEntries(recordFields: RecordFields, { areRequired = false } = {}): v.ObjectEntries {
  const syncedNames = listSyncedFields(recordFields)
  const syncedFields = Object.entries(recordFields).filter(([name]) => syncedNames.includes(name))
  return mapFields(Object.fromEntries(syncedFields), ({ shape, isOptional, fallback }) =>
    makeOptional(!areRequired && (isOptional || fallback !== undefined), createSchema(shape)),
  )
}

/** Lists the field names within fields that are objects. */
export const listNestedFields = (recordFields: RecordFields): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(recordFields).flatMap(([name, { shape }]) =>
      shape.type === 'object' ? [[name, Object.keys(shape.fields)]] : [],
    ),
  )

/** Creates an input value's schema. */
export function createSchema(shape: Shape): v.GenericSchema {
  switch (shape.type) {
    case 'text':
      return createTextSchema(shape)
    case 'flag':
      return fields.flag
    case 'tag':
      return tagValueSchema
    case 'time':
      return shape.isExact ? momentSchema : timeSchema
    case 'number':
      return createNumberSchema(shape)
    case 'choice':
      return shape.orObject
        ? promptCachingSchema
        : createChoiceSchema(
            shape.of,
            Object.fromEntries((shape.disallowed ?? []).map((value) => [value, disallowedValueTexts[value]])),
          )
    case 'list':
      return createListSchema(shape, createSchema(shape.of))
    case 'map':
      return createMapSchema(shape)
    case 'object':
      return createObjectSchema(shape)
    case 'entry':
      return comboModelSchema
    default:
      return assertNever(shape)
  }
}

const timeSchema = v.pipe(
  createTextSchema({ type: 'text', max: 40 }),
  v.check((text) => !Number.isNaN(Date.parse(text)), 'must be an ISO 8601 date'),
)

const momentSchema = v.pipe(
  createTextSchema({ type: 'text', max: 40 }),
  v.isoTimestamp('must be an ISO 8601 time with a time zone, such as "2027-01-31T00:00:00Z"'),
)

function createTextSchema({
  isLiteral,
  isTrimmed,
  isNonEmpty,
  max,
  pattern,
  form = 'customId',
  isPathSegment,
  rules,
}: TextShape): v.GenericSchema<string> {
  if (rules) return schemasByTextRules[rules]
  if (isLiteral && max !== undefined) {
    const problem = describeLiteral(max)
    return v.pipe(v.string(problem), v.minLength(1, problem), v.maxLength(max, problem))
  }
  return addActions(v.string(describeText), [
    ...(isTrimmed ? [v.trim()] : []),
    ...(isNonEmpty ? [v.nonEmpty<string, string>('must not be blank')] : []),
    ...(max === undefined ? [] : limitText(max)),
    ...(pattern ? [v.regex<string, string>(pattern, textFormProblems[form])] : []),
    ...(isPathSegment ? [rejectDots()] : []),
  ])
}

/** Adds any number of actions to a schema. */
function addActions<T>(
  schema: v.GenericSchema<T>,
  actions: readonly v.PipeItem<T, T, v.BaseIssue<unknown>>[],
): v.GenericSchema<T> {
  return actions.length > 0 ? v.pipe(schema, ...actions) : schema
}

/** Schemas of strings with rules in code. */
const schemasByTextRules: Readonly<Record<TextRules, v.GenericSchema<string>>> = {
  clientKey: v.pipe(
    fields.text,
    v.check(
      isClientKey,
      'must be "sbx_" followed by 32 to 196 letters, digits, "_", or "-". If the gateway generated it, copy all of it',
    ),
  ),

  /** A credential is sent as a header: surrounding whitespace is removed, and characters that headers can't contain are rejected. */
  credential: v.pipe(
    fields.text,
    v.trim(),
    v.check(
      (key) => findCredentialProblem(key, OMIT_ADVICE) === undefined,
      ({ input }) => findCredentialProblem(input, OMIT_ADVICE) ?? '',
    ),
    v.regex(SENDABLE_PATTERN), // unlike `check`, this rule and the next appear in the JSON Schema
    v.maxLength(MAX_CREDENTIAL_LENGTH),
  ),

  address: v.pipe(
    fields.text,
    v.trim(),
    v.check(
      (url) => url === '' || findBaseUrlProblem(url) === undefined,
      ({ input }) => findBaseUrlProblem(input) ?? '',
    ),
  ),
}

function createNumberSchema({ min, above, max, isInteger }: NumberShape): v.GenericSchema<number> {
  if (isInteger) return createIntegerSchema(min ?? 0, max ?? Number.MAX_SAFE_INTEGER)
  const message = describeNumber({ min, above, max } as NumberShape)
  return addActions(v.number(message), [
    v.check<number, string>(Number.isFinite, message),
    ...(min === undefined ? [] : [v.minValue<number, number, string>(min, message)]),
    ...(above === undefined
      ? []
      : [
          v.check<number, string>((value) => value > above, message),
          v.metadata<number, { exclusiveMinimum: number }>({ exclusiveMinimum: above }),
        ]),
    ...(max === undefined ? [] : [v.maxValue<number, number, string>(max, message)]),
  ])
}

function createListSchema({ max, items, isNonEmpty }: ListShape, item: v.GenericSchema) {
  const { message, tooMany, empty = EMPTY_MESSAGE }: ListMessages = listItems[items]
  const schema = v.pipe(
    v.array(item, message),
    v.maxLength(max, tooMany(max)),
    v.check((list) => items !== 'conditions' || new Set(list).size === list.length, NO_DUPLICATES_MESSAGE),
  )
  return isNonEmpty ? v.pipe(schema, v.minLength(1, empty)) : schema
}

const OMIT_ADVICE = 'send null or omit it'
const EMPTY_MESSAGE = describeEmpty(OMIT_ADVICE)

function createMapSchema({ name, of, max }: MapShape) {
  const nameSchema = createSchema(name)
  const findNameProblem = (value: object) =>
    Object.keys(value)
      .map((key) => v.safeParse(nameSchema, key).issues?.[0].message)
      .find(Boolean)
  return v.pipe(
    rejectArray(),
    v.check(hasNoReservedNames, RESERVED_NAME_MESSAGE),
    v.record(v.string(), createSchema(of), 'must be an object'),
    v.metadata({ propertyNames: describePropertyNames(name), maxProperties: max }),
    v.check((value) => Object.keys(value).length <= max, describeFields(max)),
    v.check(
      (value) => findNameProblem(value) === undefined,
      ({ input }) => describeNames(findNameProblem(input) ?? ''),
    ),
  )
}

/** valibot drops these names, whatever their values. */
const hasNoReservedNames = (value: unknown) => !RESERVED_NAMES.some((name) => Object.hasOwn(Object(value), name))
const RESERVED_NAMES = ['__proto__', 'constructor', 'prototype']
const RESERVED_NAME_MESSAGE = `has an invalid field name: each must not be ${RESERVED_NAMES.map((name) => `"${name}"`).join(', ')}`

/** Describes field names, because valibot would report invalid names the same way as invalid values. */
const describePropertyNames = (shape: Shape) => ({
  type: 'string',
  ...(shape.type === 'text' && shape.isNonEmpty && { minLength: 1 }),
  ...(shape.type === 'text' && shape.max !== undefined && { maxLength: shape.max }),
})

function createObjectSchema({ fields: members, isNonEmpty, isOpen, rules }: ObjectShape): v.GenericSchema {
  if (isOpen) return v.pipe(rejectArray(), v.record(v.string(), v.unknown(), 'must be an object'))
  const schema = closedObject(
    mapFields(members, ({ shape, isOptional }) => makeOptional(isOptional, createSchema(shape))),
  )
  if (isNonEmpty)
    return v.pipe(
      rejectArray(),
      schema,
      v.check((value) => Object.keys(value).length > 0, rules === 'prices' ? NO_PRICE_MESSAGE : EMPTY_MESSAGE),
      v.metadata({ minProperties: 1 }),
    )
  return rules === 'cooldowns'
    ? v.pipe(rejectArray(), schema, v.check(hasValidCooldowns, COOLDOWNS_MESSAGE))
    : v.pipe(rejectArray(), schema)
}

const hasValidCooldowns = ({
  cooldownMs = 0,
  maxCooldownMs = cooldownMs,
}: {
  cooldownMs?: unknown
  maxCooldownMs?: unknown
}) => Number(cooldownMs) <= Number(maxCooldownMs)

/** Creates the schema of an object that updates another object field by field; `null` removes a field. */
const createChangeSchema = ({ fields: members }: ObjectShape): v.GenericSchema =>
  v.pipe(
    rejectArray(),
    closedObject(mapFields(members, ({ shape }) => v.exactOptional(v.nullable(createSchema(shape))))),
  )

export function mapFields<T, R>(members: Readonly<Record<string, T>>, convert: (member: T) => R): Record<string, R> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, convert(member)]))
}

export const makeOptional = (isOptional: boolean | undefined, schema: v.GenericSchema) =>
  isOptional ? v.exactOptional(schema) : schema
