import * as v from 'valibot'
import { isObject } from '../lib/json.ts'
import { TAG_TEXT, TAG_VALUE } from '../lib/tag-values.ts'
import { EFFORTS } from '../protocols/formats/canonical/base-traits.ts'
import { TAG_NAME } from '../types/records/tag-fields.ts'
import type { ComboModel, Condition, DataTags, Pattern } from '../types.ts'
import { alternatives, choice, closedObject, fields, rejectArray, wholeNumber } from './input.ts'

const PATTERN = 'must be a string, an array of strings, true, or false'
const TEXTS = 'must be a string or an array of strings'
const PATTERNS = 'must be an object whose values are patterns'
const SIZE = 'must be a whole number of bytes'
const MAX_PATTERNS = 100

const texts = v.pipe(
  v.array(fields.patternText, TEXTS),
  v.nonEmpty('must contain at least one string'),
  v.maxLength(MAX_PATTERNS, `must not contain more than ${MAX_PATTERNS} strings`),
)
const text = fields.patternTextOr(TEXTS)
const textOrTexts = alternatives([text, texts], (input) => (Array.isArray(input) ? texts : text))
const textOfPattern = fields.patternTextOr(PATTERN)
const pattern = alternatives([textOfPattern, texts, fields.flag], (input) =>
  typeof input === 'boolean' ? fields.flag : Array.isArray(input) ? texts : textOfPattern,
)
const patterns = (name: v.GenericSchema<string>) =>
  v.pipe(
    rejectArray(PATTERNS),
    v.record(name, pattern, PATTERNS),
    v.check<Record<string, Pattern>, string>((named) => Object.keys(named).length > 0, 'must contain at least one'),
    v.metadata({ minProperties: 1 }),
  )
const headerName = v.pipe(v.string(), v.regex(/^[\w!#$%&'*+.^`|~-]+$/, 'is not a header name'))
const size = v.pipe(v.number(SIZE), v.integer(SIZE), v.minValue(0, SIZE))
const bytes = v.pipe(
  rejectArray(),
  closedObject({ min: v.exactOptional(size), max: v.exactOptional(size) }),
  v.check(({ min, max }) => min !== undefined || max !== undefined, 'must have "min", "max", or both'),
  v.metadata({ minProperties: 1 }),
  v.check(({ min = 0, max = Number.POSITIVE_INFINITY }) => min <= max, 'must have a "min" no greater than its "max"'),
)

/** The condition for requests to a combo entry. */
export const condition = v.pipe(
  rejectArray(),
  closedObject({
    model: v.exactOptional(textOrTexts),
    bytes: v.exactOptional(bytes),
    stream: v.exactOptional(fields.flag),
    tools: v.exactOptional(fields.flag),
    images: v.exactOptional(fields.flag),
    headers: v.exactOptional(patterns(headerName)),
    metadata: v.exactOptional(patterns(v.string())),
    function: v.exactOptional(
      v.pipe(
        v.number(),
        v.check(() => false, 'can only be a function in code'),
      ),
    ),
  }),
  v.check<Condition, string>(
    (given) => Object.keys(given).length > 0,
    'must contain a condition; omit it for an entry that applies to all requests',
  ),
  v.metadata({ minProperties: 1 }),
)

const WEIGHT = 'must be a number from 0 to 1000'

const VOICE = 'must be a voice name of 1 to 200 characters'
const voice = v.pipe(v.string(VOICE), v.minLength(1, VOICE), v.maxLength(200, VOICE))
const voices = v.pipe(
  rejectArray('must be an object that maps voice names to voice names'),
  v.record(voice, voice, 'must be an object that maps voice names to voice names'),
  v.check<Record<string, string>, string>(
    (named) => Object.keys(named).length <= 200,
    'must not contain more than 200',
  ),
)

const numberWithin = (min: number, max: number) => {
  const message = `must be a number from ${min} to ${max}`
  return v.exactOptional(v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message)))
}
const wholeWithin = (min: number, max: number) => v.exactOptional(wholeNumber(min, max))
/** The reasoning effort of a model. */
export const effort = choice(EFFORTS)

const STOP = 'must be a string of 1 to 200 characters'
const STOPS = 'must be an array of 1 to 16 strings'

/** The parameters that an entry sets for requests: `EntryParams`. */
export const entryParams = v.pipe(
  rejectArray(),
  closedObject({
    maxTokens: wholeWithin(1, 10_000_000),
    temperature: numberWithin(0, 2),
    topP: numberWithin(0, 1),
    topK: wholeWithin(1, 10_000_000),
    stopSequences: v.exactOptional(
      v.pipe(
        v.array(v.pipe(v.string(STOP), v.minLength(1, STOP), v.maxLength(200, STOP)), STOPS),
        v.minLength(1, STOPS),
        v.maxLength(16, STOPS),
      ),
    ),
    seed: wholeWithin(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
    presencePenalty: numberWithin(-2, 2),
    frequencyPenalty: numberWithin(-2, 2),
    reasoning: v.exactOptional(effort),
  }),
)

const tagText = v.pipe(v.string(TAG_VALUE), v.regex(TAG_TEXT, TAG_VALUE))

/** The value of a tag. */
export const tagValue = alternatives([tagText, fields.flag], (input) =>
  typeof input === 'boolean' ? fields.flag : tagText,
)

const TAGS = 'must be an object with 1 to 16 tags, such as { "region": "eu" }'
const tags = v.pipe(
  rejectArray(TAGS),
  v.record(v.string(), tagValue, TAGS),
  v.check<DataTags, string>((given) => {
    const names = Object.keys(given)
    return names.length > 0 && names.length <= 16 && names.every((name) => TAG_NAME.test(name))
  }, TAGS),
  v.metadata({ minProperties: 1, maxProperties: 16 }),
)

const cachingMode = choice(['off', 'auto'])
const cachingTerms = v.pipe(
  rejectArray(),
  closedObject({ mode: choice(['auto']), ttl: v.exactOptional(choice(['5m', '1h'])) }),
)

/** Whether the gateway asks providers to cache prompts: `PromptCaching`. */
export const promptCaching = alternatives([cachingMode, cachingTerms], (input) =>
  isObject(input) ? cachingTerms : cachingMode,
)

const detailedModel = v.pipe(
  closedObject({
    model: fields.model,
    weight: v.optional(v.pipe(v.number(WEIGHT), v.minValue(0, WEIGHT), v.maxValue(1_000, WEIGHT))),
    when: v.optional(condition),
    where: v.optional(tags),
    voices: v.optional(voices),
    params: v.optional(entryParams),
    promptCaching: v.optional(promptCaching),
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
export const comboModel = Object.assign(
  alternatives([fields.modelOrObject, detailedModel], (input) =>
    isObject(input) ? detailedModel : fields.modelOrObject,
  ),
  { schemaName: 'ComboModel' }, // in OpenAPI documents
)

/** Returns the index of the first entry with parameters, which only chat supports; -1 if there is none. */
export const findParamsIndex = (entries: readonly ComboModel[]): number =>
  entries.findIndex((entry) => typeof entry === 'object' && entry.params)
