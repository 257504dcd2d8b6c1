import * as v from 'valibot'
import { isObject } from '../lib/json.ts'
import {
  CACHING_MODE_MESSAGE,
  conditionTexts,
  describeFields,
  describeLiteral,
  describeNames,
  HEADER_NAME_PATTERN,
  listItems,
} from '../lib/shape-texts.ts'
import { TAG_TEXT_PATTERN, TAG_VALUE_MESSAGE, TAGS_MESSAGE } from '../lib/tag-values.ts'
import { ALL_EFFORTS } from '../protocols/formats/canonical/base-traits.ts'
import { TAG_NAME_PATTERN } from '../types/records/tag-fields.ts'
import type { ComboModel, Condition, DataTags, Pattern } from '../types.ts'
import { alternatives, closedObject, createChoiceSchema, createIntegerSchema, fields, rejectArray } from './input.ts'

const { pattern: PATTERN_MESSAGE, texts: TEXTS_MESSAGE, patterns: PATTERNS_MESSAGE } = conditionTexts
const MAX_PATTERNS = 100

const textListSchema = v.pipe(
  v.array(fields.patternText, TEXTS_MESSAGE),
  v.nonEmpty(listItems.texts.empty),
  v.maxLength(MAX_PATTERNS, listItems.texts.tooMany(MAX_PATTERNS)),
)
const textSchema = fields.patternTextOr(TEXTS_MESSAGE)
const textOrListSchema = alternatives([textSchema, textListSchema], (input) =>
  Array.isArray(input) ? textListSchema : textSchema,
)
const patternTextSchema = fields.patternTextOr(PATTERN_MESSAGE)
const patternSchema = alternatives([patternTextSchema, textListSchema, fields.flag], (input) =>
  typeof input === 'boolean' ? fields.flag : Array.isArray(input) ? textListSchema : patternTextSchema,
)
const createPatternsSchema = (name: v.GenericSchema<string>) =>
  v.pipe(
    rejectArray(PATTERNS_MESSAGE),
    v.record(name, patternSchema, PATTERNS_MESSAGE),
    v.check<Record<string, Pattern>, string>((patterns) => Object.keys(patterns).length > 0, conditionTexts.noPatterns),
    v.metadata({ minProperties: 1 }),
  )
const headerNameSchema = v.pipe(v.string(), v.regex(HEADER_NAME_PATTERN, conditionTexts.headerName))
const sizeSchema = createIntegerSchema(0, Number.MAX_SAFE_INTEGER, conditionTexts.size)
const bytesSchema = v.pipe(
  rejectArray(),
  closedObject({ min: v.exactOptional(sizeSchema), max: v.exactOptional(sizeSchema) }),
  v.check(({ min, max }) => min !== undefined || max !== undefined, conditionTexts.noSize),
  v.metadata({ minProperties: 1 }),
  v.check(({ min = 0, max = Number.POSITIVE_INFINITY }) => min <= max, conditionTexts.sizes),
)

/** The condition for requests to a combo entry. */
export const conditionSchema = v.pipe(
  rejectArray(),
  closedObject({
    model: v.exactOptional(textOrListSchema),
    bytes: v.exactOptional(bytesSchema),
    stream: v.exactOptional(fields.flag),
    tools: v.exactOptional(fields.flag),
    images: v.exactOptional(fields.flag),
    headers: v.exactOptional(createPatternsSchema(headerNameSchema)),
    metadata: v.exactOptional(createPatternsSchema(v.string())),
    function: v.exactOptional(
      v.pipe(
        v.number(conditionTexts.function),
        v.check(() => false, conditionTexts.function),
      ),
    ),
  }),
  v.check<Condition, string>((condition) => Object.keys(condition).length > 0, conditionTexts.empty),
  v.metadata({ minProperties: 1 }),
)

const WEIGHT_MESSAGE = 'must be a number from 0 to 1000'

const LITERAL_MESSAGE = describeLiteral(200)
const literalSchema = v.pipe(
  v.string(LITERAL_MESSAGE),
  v.minLength(1, LITERAL_MESSAGE),
  v.maxLength(200, LITERAL_MESSAGE),
)
const voicesSchema = v.pipe(
  rejectArray(),
  v.record(v.string(), literalSchema, 'must be an object'),
  v.metadata({ propertyNames: { type: 'string', minLength: 1, maxLength: 200 } }),
  v.check((names) => Object.keys(names).length <= 200, describeFields(200)),
  v.check((names) => Object.keys(names).every((name) => v.is(literalSchema, name)), describeNames(LITERAL_MESSAGE)),
)

const createNumberSchema = (min: number, max: number) => {
  const message = `must be a number from ${min} to ${max}`
  return v.exactOptional(v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message)))
}
const createOptionalIntegerSchema = (min: number, max: number) => v.exactOptional(createIntegerSchema(min, max))
/** A model's reasoning effort. */
export const effortSchema = createChoiceSchema(ALL_EFFORTS)

/** The parameters that an entry sets in requests: `EntryParams`. */
export const entryParamsSchema = v.pipe(
  rejectArray(),
  closedObject({
    maxTokens: createOptionalIntegerSchema(1, 10_000_000),
    temperature: createNumberSchema(0, 2),
    topP: createNumberSchema(0, 1),
    topK: createOptionalIntegerSchema(1, 10_000_000),
    stopSequences: v.exactOptional(
      v.pipe(
        v.array(literalSchema, listItems.texts.message),
        v.maxLength(16, listItems.texts.tooMany(16)),
        v.minLength(1, listItems.texts.empty),
      ),
    ),
    seed: createOptionalIntegerSchema(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    presencePenalty: createNumberSchema(-2, 2),
    frequencyPenalty: createNumberSchema(-2, 2),
    reasoning: v.exactOptional(effortSchema),
  }),
)

const tagTextSchema = v.pipe(v.string(TAG_VALUE_MESSAGE), v.regex(TAG_TEXT_PATTERN, TAG_VALUE_MESSAGE))

/** A tag's value. */
export const tagValueSchema = alternatives([tagTextSchema, fields.flag], (input) =>
  typeof input === 'boolean' ? fields.flag : tagTextSchema,
)

const tagsSchema = v.pipe(
  rejectArray(TAGS_MESSAGE),
  v.record(v.string(), tagValueSchema, TAGS_MESSAGE),
  v.check<DataTags, string>((tags) => {
    const names = Object.keys(tags)
    return names.length > 0 && names.length <= 16 && names.every((name) => TAG_NAME_PATTERN.test(name))
  }, TAGS_MESSAGE),
  v.metadata({ minProperties: 1, maxProperties: 16 }),
)

const cachingModeSchema = v.picklist(['off', 'auto'], CACHING_MODE_MESSAGE)
const cachingSettingsSchema = v.pipe(
  rejectArray(),
  closedObject({ mode: createChoiceSchema(['auto']), ttl: v.exactOptional(createChoiceSchema(['5m', '1h'])) }),
)

/** Whether the gateway asks providers to cache prompts: `PromptCaching`. */
export const promptCachingSchema = alternatives([cachingModeSchema, cachingSettingsSchema], (input) =>
  isObject(input) ? cachingSettingsSchema : cachingModeSchema,
)

const detailedModelSchema = v.pipe(
  closedObject({
    model: fields.model,
    weight: v.optional(
      v.pipe(v.number(WEIGHT_MESSAGE), v.minValue(0, WEIGHT_MESSAGE), v.maxValue(1_000, WEIGHT_MESSAGE)),
    ),
    when: v.optional(conditionSchema),
    where: v.optional(tagsSchema),
    voices: v.optional(voicesSchema),
    params: v.optional(entryParamsSchema),
    promptCaching: v.optional(promptCachingSchema),
  }),
  v.transform(
    ({ model, weight, when, where, voices, params, promptCaching }): ComboModel => ({
      model,
      ...(weight !== undefined && { weight }),
      ...(when !== undefined && { when }),
      ...(where !== undefined && { where }),
      ...(voices !== undefined && { voices }),
      ...(params !== undefined && { params }),
      ...(promptCaching !== undefined && { promptCaching }),
    }),
  ),
)
export const comboModelSchema = Object.assign(
  alternatives([fields.modelOrObject, detailedModelSchema], (input) =>
    isObject(input) ? detailedModelSchema : fields.modelOrObject,
  ),
  { schemaName: 'ComboModel' }, // names the schema in the OpenAPI document
)

/** Returns the index of the first entry with parameters, which only chat supports, or -1 if there is none. */
export const findParamsIndex = (entries: readonly ComboModel[]): number =>
  entries.findIndex((entry) => typeof entry === 'object' && entry.params)
