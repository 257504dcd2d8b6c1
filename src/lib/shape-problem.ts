import { promptCaching } from '../types/records/caching-fields.ts'
import { entryParams, voices } from '../types/records/entry-fields.ts'
import type {
  ListShape,
  MapShape,
  NumberShape,
  ObjectShape,
  Shape,
  ShapeFields,
  TextShape,
} from '../types/records/shapes.ts'
import { flag, integer, list, object, text } from '../types/records/shapes.ts'
import { dataTags, TAG_NAME_PATTERN } from '../types/records/tag-fields.ts'
import { conditionNames } from '../types/unions.ts'
import { assertNever } from './assert-never.ts'
import { suggestField, suggestInnerField } from './field-hints.ts'
import { isObject, type JsonObject } from './json.ts'
import { toCurrentName } from './renamed-options.ts'
import {
  CACHING_MODE_MESSAGE,
  CONTROL_PATTERN,
  COOLDOWNS_MESSAGE,
  conditionTexts,
  DOT_SEGMENT_PATTERN,
  describeChoice,
  describeEmpty,
  describeEndpoint,
  describeFields,
  describeLength,
  describeLiteral,
  describeNames,
  describeNumber,
  disallowedValueTexts,
  findBaseUrlProblem,
  findCredentialProblem,
  HEADER_NAME_PATTERN,
  type ListMessages,
  listItems,
  NO_CONTROL_MESSAGE,
  NO_DOT_SEGMENT_MESSAGE,
  NO_DUPLICATES_MESSAGE,
  NO_MODEL_MESSAGE,
  NO_PRICE_MESSAGE,
  textFormProblems,
} from './shape-texts.ts'
import { isTagValue, TAG_VALUE_MESSAGE, TAGS_MESSAGE } from './tag-values.ts'
import { findEndpointPath } from './urls.ts'

/** A problem with a value, and its location. */
export interface ShapeProblem {
  /** Empty for the value itself, otherwise such as `.baseUrl` or `[0]`. */
  path: string
  /** A predicate, such as `must be a string`. */
  problem: string
}

interface ShapeCheckOptions {
  /** Whether an optional field may be `undefined`, which is treated as omitted. */
  allowsUndefined?: boolean
}

/** Checks a value that was written in code. Returns `undefined` if it matches the shape. As strict as the management API, but loads no schemas. */
export function findShapeProblem(
  shape: Shape,
  value: unknown,
  path = '',
  options: ShapeCheckOptions = {},
): ShapeProblem | undefined {
  const createProblem = (problem: string): ShapeProblem => ({ path, problem })
  switch (shape.type) {
    case 'text': {
      const problem = findTextProblem(shape, value)
      return problem === undefined ? undefined : { path, problem }
    }
    case 'flag':
      return typeof value === 'boolean' ? undefined : createProblem('must be true or false')
    case 'tag':
      return isTagValue(value) ? undefined : createProblem(TAG_VALUE_MESSAGE)
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
        ? undefined
        : createProblem('must be an ISO 8601 time')
    case 'number':
      return isInRange(shape, value) ? undefined : createProblem(describeNumber(shape))
    case 'choice':
      if (shape.orObject && isPlainObject(value)) return findObjectProblem(shape.orObject, value, path, options)
      if (typeof value === 'string' && shape.of.includes(value)) return undefined
      if (shape.orObject) return createProblem(CACHING_MODE_MESSAGE)
      return createProblem(
        disallowedValueTexts[shape.disallowed?.find((disallowedValue) => disallowedValue === value) ?? ''] ??
          describeChoice(shape.of),
      )
    case 'list':
      return findListProblem(shape, value, path, options)
    case 'map':
      return isPlainObject(value) ? findMapProblem(shape, value, path, options) : createProblem(NOT_OBJECT_MESSAGE)
    case 'object':
      return isPlainObject(value) ? findObjectProblem(shape, value, path, options) : createProblem(NOT_OBJECT_MESSAGE)
    case 'entry':
      if (isObject(value)) return findEntryProblem(value, path)
      return typeof value === 'string' ? findShapeProblem(MODEL_SHAPE, value, path) : createProblem(NO_MODEL_MESSAGE)
    default:
      return assertNever(shape)
  }
}

/** Returns whether a value matches the shape; optional fields may be `undefined`. */
export const isValidInput = (shape: Shape, value: unknown): boolean =>
  findShapeProblem(shape, value, '', { allowsUndefined: true }) === undefined

/** Checks an object that may only have these fields. */
export function findFieldProblem(
  fields: ShapeFields,
  value: JsonObject,
  path = '',
  options: ShapeCheckOptions = {},
): ShapeProblem | undefined {
  for (const name of Object.keys(value))
    if (!Object.hasOwn(fields, name)) return { path: `${path}.${name}`, problem: describeUnknown(name, fields, path) }
  return findFirst(Object.entries(fields), ([name, { shape, isOptional }]) => {
    const fieldPath = `${path}.${name}`
    if (!Object.hasOwn(value, name)) return isOptional ? undefined : describeMissing(shape, fieldPath)
    if (value[name] !== undefined) return findShapeProblem(shape, value[name], fieldPath, options)
    return isOptional && options.allowsUndefined ? undefined : { path: fieldPath, problem: UNDEFINED_MESSAGE }
  })
}

/** Returns whether the value is an object, and not an instance of a class such as `Map`, whose contents wouldn't be checked. */
export function isPlainObject(value: unknown): value is JsonObject {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null // also true for objects from other realms
}

const EMPTY_MESSAGE = describeEmpty('omit it')
const NOT_OBJECT_MESSAGE = 'must be an object'
const UNDEFINED_MESSAGE =
  'is undefined. If it comes from an environment variable, check that the variable is set; otherwise omit it'

function describeUnknown(name: string, fields: ShapeFields, path: string): string {
  const fieldNames = Object.keys(fields)
  if (toCurrentName(name, fieldNames) !== undefined)
    return `was renamed. ${suggestField(name, fieldNames).slice('It was renamed. '.length)}`
  const nestedFields = Object.entries(fields).flatMap(([outer, { shape }]) =>
    shape.type === 'object' ? [[outer, Object.keys(shape.fields)]] : [],
  )
  const hint = path === '' ? suggestInnerField(name, fieldNames, Object.fromEntries(nestedFields)) : undefined
  return `is not a known field. ${hint ?? suggestField(name, fieldNames)}`
}

const describeMissing = (shape: Shape, path: string): ShapeProblem => {
  const { problem = '' } = findShapeProblem(shape, undefined) ?? {}
  return { path, problem: `is required and ${problem}` }
}

function findListProblem(
  shape: ListShape,
  value: unknown,
  path: string,
  options: ShapeCheckOptions,
): ShapeProblem | undefined {
  const { message, tooMany, empty = EMPTY_MESSAGE }: ListMessages = listItems[shape.items]
  if (!Array.isArray(value)) return { path, problem: message }
  if (value.length > shape.max) return { path, problem: tooMany(shape.max) }
  if (shape.isNonEmpty && value.length === 0) return { path, problem: empty }
  const items = Array.from<unknown>(value) // the array may be sparse or override array methods
  const itemProblem = findFirst(items.entries(), ([index, item]) =>
    findShapeProblem(shape.of, item, `${path}[${index}]`, options),
  )
  if (itemProblem || shape.items !== 'conditions' || new Set(items).size === items.length) return itemProblem
  return { path, problem: NO_DUPLICATES_MESSAGE }
}

function findMapProblem(
  { name, of, max }: MapShape,
  value: JsonObject,
  path: string,
  options: ShapeCheckOptions,
): ShapeProblem | undefined {
  const entries = Object.entries(value)
  if (entries.length > max) return { path, problem: describeFields(max) }
  const nameProblem = findFirst(entries, ([key]) => findShapeProblem(name, key))
  if (nameProblem) return { path, problem: describeNames(nameProblem.problem) }
  return findFirst(entries, ([key, item]) => findShapeProblem(of, item, `${path}.${key}`, options))
}

function findObjectProblem(
  { fields, isNonEmpty, isOpen, rules }: ObjectShape,
  value: JsonObject,
  path: string,
  options: ShapeCheckOptions,
): ShapeProblem | undefined {
  if (isNonEmpty && Object.values(value).every((item) => item === undefined))
    return { path, problem: rules === 'prices' ? NO_PRICE_MESSAGE : EMPTY_MESSAGE }
  const { cooldownMs = 0, maxCooldownMs = cooldownMs } = value
  if (rules === 'cooldowns' && Number(cooldownMs) > Number(maxCooldownMs)) return { path, problem: COOLDOWNS_MESSAGE }
  return isOpen ? undefined : findFieldProblem(fields, value, path, options)
}

function findEntryProblem(entry: JsonObject, path: string): ShapeProblem | undefined {
  const { when, where, ...fields } = entry
  const hasValidTags = where === undefined || areValidTags(where)
  return (
    findFieldProblem(ENTRY_FIELDS, { ...fields, ...(hasValidTags && where !== undefined && { where }) }, path) ??
    (hasValidTags ? undefined : { path: `${path}.where`, problem: TAGS_MESSAGE }) ??
    (when === undefined ? undefined : findWhenProblem(when, `${path}.when`))
  )
}

function areValidTags(where: unknown): boolean {
  const names = isPlainObject(where) ? Object.keys(where) : []
  return names.length > 0 && names.length <= 16 && names.every((name) => TAG_NAME_PATTERN.test(name))
}

function findWhenProblem(when: unknown, path: string): ShapeProblem | undefined {
  if (!isPlainObject(when)) return { path, problem: NOT_OBJECT_MESSAGE }
  const { model, headers, metadata, ...fields } = when
  if (Object.keys(when).length === 0) return { path, problem: conditionTexts.empty }
  if (fields.function !== undefined) return { path: `${path}.function`, problem: conditionTexts.function }
  const unknownName = Object.keys(when).find((name) => !conditionNames.includes(name))
  if (unknownName !== undefined)
    return {
      path: `${path}.${unknownName}`,
      problem: `is not a known field. ${suggestField(unknownName, conditionNames)}`,
    }
  return (
    rewordSizeProblem(findFieldProblem(CONDITION_FIELDS, fields, path), path) ??
    findBytesProblem(fields.bytes, `${path}.bytes`) ??
    (model === undefined ? undefined : findPatternProblem(model, `${path}.model`, conditionTexts.texts)) ??
    findFirst(Object.entries({ headers, metadata }), ([name, patterns]) => {
      const fieldPath = `${path}.${name}`
      if (patterns === undefined) return undefined
      if (!isPlainObject(patterns)) return { path: fieldPath, problem: conditionTexts.patterns }
      if (Object.keys(patterns).length === 0) return { path: fieldPath, problem: conditionTexts.noPatterns }
      return findFirst(Object.entries(patterns), ([key, pattern]) => {
        if (name === 'headers' && !HEADER_NAME_PATTERN.test(key))
          return { path: `${fieldPath}.${key}`, problem: conditionTexts.headerName }
        return typeof pattern === 'boolean'
          ? undefined
          : findPatternProblem(pattern, `${fieldPath}.${key}`, conditionTexts.pattern)
      })
    })
  )
}

/** Rewords a problem with a size in bytes. */
const rewordSizeProblem = (problem: ShapeProblem | undefined, path: string): ShapeProblem | undefined =>
  problem && [`${path}.bytes.min`, `${path}.bytes.max`].includes(problem.path)
    ? { path: problem.path, problem: conditionTexts.size }
    : problem

function findBytesProblem(bytes: unknown, path: string): ShapeProblem | undefined {
  if (bytes === undefined) return undefined
  const { min, max } = Object(bytes)
  if (min === undefined && max === undefined) return { path, problem: conditionTexts.noSize }
  return min > max ? { path, problem: conditionTexts.sizes } : undefined
}

function findPatternProblem(pattern: unknown, path: string, problem: string): ShapeProblem | undefined {
  if (typeof pattern !== 'string' && !Array.isArray(pattern)) return { path, problem }
  if (pattern === '') return { path, problem: 'must not be empty' }
  return findShapeProblem(typeof pattern === 'string' ? PATTERN_SHAPE : PATTERN_LIST_SHAPE, pattern, path)
}

const PATTERN_SHAPE = text({ max: 512 })
const PATTERN_LIST_SHAPE = list(PATTERN_SHAPE, { items: 'texts', max: 100, isNonEmpty: true })

const MODEL_SHAPE: TextShape = { type: 'text', isNonEmpty: true, max: 512 }
const ENTRY_FIELDS: ShapeFields = {
  model: { shape: MODEL_SHAPE },
  weight: { shape: { type: 'number', min: 0, max: 1_000 }, isOptional: true },
  where: { shape: dataTags, isOptional: true },
  voices: { shape: voices, isOptional: true },
  params: { shape: entryParams, isOptional: true },
  promptCaching: { shape: promptCaching, isOptional: true },
}
const sizeField = { shape: integer(0, Number.MAX_SAFE_INTEGER), isOptional: true }
const CONDITION_FIELDS: ShapeFields = {
  bytes: { shape: object({ min: sizeField, max: sizeField }), isOptional: true },
  stream: { shape: flag, isOptional: true },
  tools: { shape: flag, isOptional: true },
  images: { shape: flag, isOptional: true },
}

function findTextProblem(
  {
    isLiteral,
    isTrimmed,
    isNonEmpty,
    isPathSegment,
    max = Number.POSITIVE_INFINITY,
    pattern,
    form = 'customId',
    rules,
  }: TextShape,
  value: unknown,
): string | undefined {
  if (isLiteral)
    return typeof value === 'string' && value !== '' && value.length <= max ? undefined : describeLiteral(max)
  if (typeof value !== 'string') return value === undefined ? 'must not be blank' : 'must be a string'
  if (rules === 'address') return findServerUrlProblem(value.trim())
  if (rules === 'credential') return findCredentialProblem(value, 'omit it')
  if (isNonEmpty && value.trim() === '') return 'must not be blank'
  if (isTrimmed && value.trim() !== value) return 'must not start or end with whitespace'
  if (value.length > max) return describeLength(max)
  if (max < Number.POSITIVE_INFINITY && CONTROL_PATTERN.test(value)) return NO_CONTROL_MESSAGE
  if (pattern && !pattern.test(value)) return textFormProblems[form]
  return isPathSegment && DOT_SEGMENT_PATTERN.test(value) ? NO_DOT_SEGMENT_MESSAGE : undefined
}

function findServerUrlProblem(url: string): string | undefined {
  const path = findEndpointPath(url)
  return findBaseUrlProblem(url) ?? (path && describeEndpoint(url, path))
}

function isInRange({ min, above, max, isInteger }: NumberShape, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (isInteger && !Number.isSafeInteger(value))) return false
  return value >= (min ?? value) && value <= (max ?? value) && (above === undefined || value > above)
}

function findFirst<T>(
  items: Iterable<T>,
  findProblem: (item: T) => ShapeProblem | undefined,
): ShapeProblem | undefined {
  for (const item of items) {
    const problem = findProblem(item)
    if (problem) return problem
  }
  return undefined
}
