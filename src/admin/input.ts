import * as v from 'valibot'
import { type GatewayError, gatewayError } from '../errors.ts'
import { suggestField, suggestInnerField } from '../lib/field-hints.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import {
  CLOUD_ACTION_ONLY_MESSAGE,
  CONTROL_PATTERN,
  DOT_SEGMENT_PATTERN,
  describeChoice,
  describeLength,
  describeNumber,
  NO_CONTROL_MESSAGE,
  NO_DOT_SEGMENT_MESSAGE,
  NO_MODEL_MESSAGE,
} from '../lib/shape-texts.ts'

type Entries = v.ObjectEntries

/** Creates the schema of an object without unknown fields. Error messages for its fields are predicates, such as `must be a string`. */
export function closedObject<const E extends Entries>(entries: E) {
  return v.strictObject(entries, (issue) => {
    if (issue.expected === 'never') return suggestField(String(issue.input), listFields(entries))
    const entry = entries[getField(issue)]
    return (entry && v.safeParse(entry, undefined).issues?.[0]?.message) ?? 'must be an object'
  })
}

export const emptyInput = closedObject({})

/** A schema of an object without unknown fields, which outputs a `T`. */
export type ClosedSchema<T> = v.GenericSchema<unknown, T> & { readonly entries: Entries }

/**
 * Creates a schema for values that match one of these schemas. `chooseSchema` chooses the schema for a value, so messages only mention that schema.
 */
export function alternatives<const Options extends readonly v.GenericSchema[]>(
  options: Options,
  chooseSchema: (input: unknown) => Options[number],
) {
  return Object.assign(v.lazy(chooseSchema), { options })
}

/** Creates a schema for any JSON object. */
export const anyObject = (message: string) =>
  v.pipe(v.custom<JsonObject>(isObject, message), v.metadata({ type: 'object' }))

/** Creates a check to run before an object's schema, which would otherwise accept an array. */
export const rejectArray = (message = 'must be an object') =>
  v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value), message),
  )

/**
 * Parses a caller's input; fields that are `undefined` or ignored are treated as omitted. Throws an `INVALID_REQUEST` that explains what to do.
 * `nestedFields` lists the fields that belong inside a field of the input, by that field's name.
 */
export function parseInput<T>(
  schema: ClosedSchema<T>,
  input: unknown,
  nestedFields: Readonly<Record<string, readonly string[]>> = {},
): T {
  const fieldNames = listFields(schema.entries)
  if (!isObject(input)) throw createInputError(`Send an object with ${quoteNames(fieldNames)}.`)
  for (const field of Object.keys(input)) {
    if (Object.hasOwn(schema.entries, field)) continue
    throw createInputError(
      describeUnknownField(
        field,
        suggestInnerField(field, fieldNames, nestedFields) ?? suggestField(field, fieldNames),
      ),
    )
  }
  const result = v.safeParse(schema, dropUndefined(input, 1), { abortEarly: true })
  if (result.success) return removeIgnoredFields(result.output, schema.entries)
  throw createInputError(describeIssue(result.issues[0]))
}

function removeIgnoredFields<T>(output: T, entries: Entries): T {
  const ignoredNames = Object.keys(entries).filter((name) => entries[name] === fields.ignored)
  if (ignoredNames.length === 0) return output
  const allowedFields = Object.entries(Object(output)).filter(([name]) => !ignoredNames.includes(name))
  return Object.fromEntries(allowedFields) as T // ignored fields are optional, so a `T` can lack them
}

/**
 * Parses the input of a `put`, which apps write in code. Also throws `INVALID_REQUEST` for a field that is `undefined`: its variable is probably
 * unset, and the record would lack its value.
 */
export function parsePut<T>(
  schema: ClosedSchema<T>,
  input: unknown,
  nestedFields?: Readonly<Record<string, readonly string[]>>,
): T {
  rejectUndefined(input)
  return parseInput(schema, input, nestedFields)
}

/** Throws `INVALID_REQUEST` if an input field, or a field of a nested object, is `undefined`. */
export function rejectUndefined(input: unknown, path = ''): void {
  if (!isObject(input)) return
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined)
      throw createInputError(
        `"${path}${name}" must not be undefined. Check that the variable it comes from is set, or omit it to keep the stored value`,
      )
    if (path === '') rejectUndefined(value, `${name}.`)
  }
}

/** The input type of a `put`. Its optional fields accept `undefined` so you can pass variables; `put` rejects `undefined` at run time. */
export type OrUnset<Input> = {
  [Member in keyof Input]: Partial<Pick<Input, Member>> extends Pick<Input, Member>
    ? Input[Member] | undefined
    : Input[Member]
}

export const createInputError = (message: string): GatewayError => gatewayError('INVALID_REQUEST', { message })

/** Returns the fields that are neither ignored nor always rejected. */
const listFields = (entries: Entries): string[] =>
  Object.keys(entries).filter((name) => entries[name] !== fields.ignored && entries[name] !== fields.byAction)

function dropUndefined(input: unknown, depth: number): unknown {
  if (!isObject(input)) return input
  const definedFields = Object.entries(input).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    definedFields.map(([name, value]) => [name, depth > 0 ? dropUndefined(value, depth - 1) : value]),
  )
}

interface Issue extends Pick<v.BaseIssue<unknown>, 'input' | 'message' | 'type' | 'expected'> {
  path?: ReadonlyArray<{ key: unknown }> | undefined
}

function describeIssue(issue: Issue): string {
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return describeUnknownField(formatPath(issue), issue.message)
  return `"${formatPath(issue)}" ${issue.input === undefined ? 'is required and ' : ''}${issue.message}`
}

const getField = (issue: Pick<Issue, 'path'>) => String(issue.path?.at(-1)?.key)

/** Formats a path such as `models[0]` or `providerSpecificData.baseUrl`. */
const formatPath = ({ path = [] }: Issue) =>
  path.map(({ key }, index) => (typeof key === 'number' ? `[${key}]` : `${index ? '.' : ''}${String(key)}`)).join('')

const describeUnknownField = (field: string, suggestion: string) =>
  `Unknown field "${field.length > MAX_SHOWN_LENGTH ? `${field.slice(0, MAX_SHOWN_LENGTH)}…` : field}". ${suggestion}`

const MAX_SHOWN_LENGTH = 60

const quoteNames = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

/** Schemas of fields that several inputs share. */
export const fields = {
  text: v.string(describeText),
  flag: v.boolean('must be true or false'),
  /** A model name of 1 to 512 characters, trimmed. */
  model: createModelSchema(describeText),
  /** A model name, where an object with a model is also allowed. */
  modelOrObject: createModelSchema(NO_MODEL_MESSAGE),
  /** A string to filter a list by. */
  filter: v.pipe(v.string(describeText), v.maxLength(1_000, 'must not be longer than 1000 characters')),
  pageSize: createIntegerSchema(1, 1_000),
  /** A string to compare values with. */
  patternText: pattern(describeText),
  patternTextOr: pattern,
  /** A field that clients can send back unchanged. */
  ignored: v.exactOptional(v.unknown()),
  /** A field that results contain but inputs always reject. */
  byAction: v.exactOptional(v.never(CLOUD_ACTION_ONLY_MESSAGE)),
}

/** Creates a schema for an integer from `min` to `max`, inclusive. */
export function createIntegerSchema(min: number, max: number, message = describeNumber({ min, max, isInteger: true })) {
  return v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message))
}

function createModelSchema(message: string | typeof describeText) {
  return v.pipe(v.string(message), v.trim(), v.nonEmpty('must not be blank'), ...limitText(512))
}

/** Rejects control characters and line breaks, which can forge log lines, and unpaired surrogates. */
export function limitText(maxLength: number) {
  return [
    v.maxLength<string, number, string>(maxLength, describeLength(maxLength)),
    v.check<string, string>((value) => !CONTROL_PATTERN.test(value), NO_CONTROL_MESSAGE),
  ] as const
}

/** Rejects "." and "..", which URLs resolve. */
export function rejectDots() {
  return v.check<string, string>((value) => !DOT_SEGMENT_PATTERN.test(value), NO_DOT_SEGMENT_MESSAGE)
}

function pattern(message: string | typeof describeText) {
  return v.pipe(v.string(message), v.nonEmpty('must not be empty'), ...limitText(512))
}

/** Creates a schema for one of these strings. `messagesByValue` contains specific messages for some of the strings that aren't allowed. */
export function createChoiceSchema<const Options extends readonly string[]>(
  options: Options,
  messagesByValue: Readonly<Record<string, string>> = {},
) {
  const defaultMessage = describeChoice(options)
  return v.picklist(options, ({ input }) => {
    const specificMessage =
      typeof input === 'string' && Object.hasOwn(messagesByValue, input) ? messagesByValue[input] : undefined
    return specificMessage ?? defaultMessage
  })
}

/** Creates a schema for some of these strings, comma-separated or as an array. `allValue` is the string for all of them. */
export function createChoiceListSchema<const Options extends readonly string[]>(
  options: Options,
  message: string,
  allValue?: string,
) {
  const optionSchema = v.picklist(options, message)
  const textSchema = v.pipe(
    v.string(message),
    v.check((names) => names === allValue || names.split(',').every((name) => v.is(optionSchema, name)), message),
  )
  const arraySchema = v.pipe(v.array(optionSchema, message), v.minLength(1, message))
  return alternatives([textSchema, arraySchema], (input) => (Array.isArray(input) ? arraySchema : textSchema))
}

export function describeText(issue: v.StringIssue): string {
  return issue.input === undefined ? 'must not be blank' : 'must be a string'
}
