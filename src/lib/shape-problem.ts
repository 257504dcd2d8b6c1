import { promptCaching } from '../types/records/caching-fields.ts'
import { entryParams, voices } from '../types/records/entry-fields.ts'
import type { MapShape, NumberShape, ObjectShape, Shape, TextShape } from '../types/records/shapes.ts'
import { flag, integer, list, object, text } from '../types/records/shapes.ts'
import { dataTags } from '../types/records/tag-fields.ts'
import { conditionNames } from '../types/unions.ts'
import { assertNever } from './assert-never.ts'
import { isSendableCredential } from './credential-shapes.ts'
import { isObject, type JsonObject } from './json.ts'
import { toCurrentName } from './renamed-options.ts'
import { isTagValue, TAG_VALUE } from './tag-values.ts'
import { findEndpointPath } from './urls.ts'

/** A problem with a value, and its location. */
export interface ShapeProblem {
  /** Empty for the value itself, otherwise such as `.baseUrl` or `[0]`. */
  path: string
  /** A predicate, such as `must be a string`. */
  problem: string
}

interface Options {
  /** Whether an optional field may be `undefined`, which counts as omitted. */
  allowsUndefined?: boolean
}

/** Checks a value that was written in code; returns `undefined` if it fits the shape. As strict as the management API, but loads no schemas. */
export function findShapeProblem(
  shape: Shape,
  value: unknown,
  path = '',
  options: Options = {},
): ShapeProblem | undefined {
  const fail = (problem: string): ShapeProblem => ({ path, problem })
  switch (shape.type) {
    case 'text': {
      const problem = findTextProblem(shape, value)
      return problem === undefined ? undefined : { path, problem }
    }
    case 'flag':
      return typeof value === 'boolean' ? undefined : fail('must be true or false')
    case 'tag':
      return isTagValue(value) ? undefined : fail(TAG_VALUE)
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
        ? undefined
        : fail('must be an ISO 8601 time')
    case 'number':
      return isWithin(shape, value) ? undefined : fail(describeRange(shape))
    case 'choice':
      if (shape.orObject && isPlainObject(value)) return findObjectProblem(shape.orObject, value, path, options)
      return typeof value === 'string' && shape.of.includes(value)
        ? undefined
        : fail(`must be one of ${quote(shape.of)}`)
    case 'list':
      if (!Array.isArray(value)) return fail('must be an array')
      if (shape.isNonEmpty && value.length === 0) return fail(EMPTY)
      if (value.length > shape.max) return fail(`must not contain more than ${shape.max} items`)
      return findFirst(
        Array.from<unknown>(value).entries(), // it may be sparse or override array methods
        ([at, item]) => findShapeProblem(shape.of, item, `${path}[${at}]`, options),
      )
    case 'map':
      return isPlainObject(value) ? findMapProblem(shape, value, path, options) : fail(NOT_OBJECT)
    case 'object':
      return isPlainObject(value) ? findObjectProblem(shape, value, path, options) : fail(NOT_OBJECT)
    case 'entry':
      return isObject(value) ? findEntryProblem(value, path) : findShapeProblem(MODEL, value, path)
    default:
      return assertNever(shape)
  }
}

/** Returns whether a value fits the shape; optional fields may be `undefined`. */
export const isValidInput = (shape: Shape, value: unknown): boolean =>
  findShapeProblem(shape, value, '', { allowsUndefined: true }) === undefined

type Fields = Readonly<Record<string, { readonly shape: Shape; readonly isOptional?: boolean }>>

/** Checks an object that may only have these fields. */
export function findFieldProblem(
  fields: Fields,
  value: JsonObject,
  path = '',
  options: Options = {},
): ShapeProblem | undefined {
  for (const name of Object.keys(value))
    if (!Object.hasOwn(fields, name))
      return { path: `${path}.${name}`, problem: describeUnknown(name, Object.keys(fields)) }
  return findFirst(Object.entries(fields), ([name, { shape, isOptional }]) => {
    const inner = `${path}.${name}`
    if (!Object.hasOwn(value, name)) return isOptional ? undefined : { path: inner, problem: 'is required' }
    if (value[name] !== undefined) return findShapeProblem(shape, value[name], inner, options)
    return isOptional && options.allowsUndefined ? undefined : { path: inner, problem: UNDEFINED }
  })
}

/** Returns whether the value is an object, and not an instance of a class such as `Map`, whose contents wouldn't be checked. */
export function isPlainObject(value: unknown): value is JsonObject {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null // of any realm
}

const EMPTY = 'must not be empty'
const NOT_OBJECT = 'must be an object'
const UNDEFINED =
  'is undefined. If it comes from an environment variable, check that the variable is set; otherwise omit it'

function describeUnknown(name: string, known: readonly string[]): string {
  const current = toCurrentName(name, known)
  if (current !== undefined) return `was renamed. Use "${current}"`
  const meant = known.filter((one) => one.toLowerCase() === name.toLowerCase())
  return `is not a known field. ${meant.length > 0 ? `Did you mean ${quote(meant)}?` : `Known: ${quote(known)}`}`
}

function findMapProblem(
  { name, of, max }: MapShape,
  value: JsonObject,
  path: string,
  options: Options,
): ShapeProblem | undefined {
  const entries = Object.entries(value)
  if (entries.length > max) return { path, problem: `must not have more than ${max} fields` }
  return findFirst(entries, ([key, item]) => {
    const inner = `${path}.${key}`
    return findShapeProblem(name, key, inner) ?? findShapeProblem(of, item, inner, options)
  })
}

function findObjectProblem(
  { fields, isNonEmpty, isOpen, rules }: ObjectShape,
  value: JsonObject,
  path: string,
  options: Options,
): ShapeProblem | undefined {
  if (isNonEmpty && Object.values(value).every((item) => item === undefined)) return { path, problem: EMPTY }
  const { cooldownMs = 0, maxCooldownMs = cooldownMs } = value
  if (rules === 'cooldowns' && Number(cooldownMs) > Number(maxCooldownMs))
    return { path: `${path}.cooldownMs`, problem: 'must not be above "maxCooldownMs"' }
  return isOpen ? undefined : findFieldProblem(fields, value, path, options)
}

function findEntryProblem(entry: JsonObject, path: string): ShapeProblem | undefined {
  const { when, ...plain } = entry
  return (
    findFieldProblem(ENTRY, plain, path) ?? (when === undefined ? undefined : findWhenProblem(when, `${path}.when`))
  )
}

function findWhenProblem(when: unknown, path: string): ShapeProblem | undefined {
  if (!isPlainObject(when)) return { path, problem: NOT_OBJECT }
  const { model, headers, metadata, ...plain } = when
  if (Object.keys(when).length === 0) return { path, problem: EMPTY }
  const unknown = Object.keys(when).find((name) => !conditionNames.includes(name))
  if (unknown !== undefined) return { path: `${path}.${unknown}`, problem: describeUnknown(unknown, conditionNames) }
  const { min = 0, max = min } = Object(plain.bytes)
  if (min > max) return { path: `${path}.bytes`, problem: 'must have a "min" no greater than its "max"' }
  return (
    findFieldProblem(WHEN, plain, path) ??
    (model === undefined
      ? undefined
      : findPatternProblem(model, `${path}.model`, 'must be a string or an array of strings')) ??
    findFirst(Object.entries({ headers, metadata }), ([name, patterns]) => {
      const inner = `${path}.${name}`
      if (patterns === undefined) return undefined
      if (!isPlainObject(patterns)) return { path: inner, problem: NOT_OBJECT }
      if (Object.keys(patterns).length === 0) return { path: inner, problem: EMPTY }
      return findFirst(Object.entries(patterns), ([key, pattern]) => {
        if (name === 'headers' && !HEADER_NAME.test(key))
          return { path: `${inner}.${key}`, problem: 'is not a header name' }
        return typeof pattern === 'boolean' ? undefined : findPatternProblem(pattern, `${inner}.${key}`, PATTERN)
      })
    })
  )
}

function findPatternProblem(pattern: unknown, path: string, problem: string): ShapeProblem | undefined {
  if (typeof pattern !== 'string' && !Array.isArray(pattern)) return { path, problem }
  return findShapeProblem(typeof pattern === 'string' ? PATTERN_TEXT : PATTERN_TEXTS, pattern, path)
}

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const PATTERN = 'must be a string, an array of strings, true, or false'
const PATTERN_TEXT = text({ isNonEmpty: true, max: 512 })
const PATTERN_TEXTS = list(PATTERN_TEXT, { items: 'texts', max: 100, isNonEmpty: true })

const MODEL: TextShape = { type: 'text', isNonEmpty: true, max: 512 }
const ENTRY: Fields = {
  model: { shape: MODEL },
  weight: { shape: { type: 'number', min: 0, max: 1_000 }, isOptional: true },
  where: { shape: dataTags, isOptional: true },
  voices: { shape: voices, isOptional: true },
  params: { shape: entryParams, isOptional: true },
  promptCaching: { shape: promptCaching, isOptional: true },
}
const size = { shape: integer(0, Number.MAX_SAFE_INTEGER), isOptional: true }
const WHEN: Fields = {
  bytes: { shape: object({ min: size, max: size }, { isNonEmpty: true }), isOptional: true },
  stream: { shape: flag, isOptional: true },
  tools: { shape: flag, isOptional: true },
  images: { shape: flag, isOptional: true },
  function: { shape: size.shape, isOptional: true },
}

function findTextProblem(
  { isLiteral, isTrimmed, isNonEmpty, max = Number.POSITIVE_INFINITY, pattern, rules }: TextShape,
  value: unknown,
): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  if (isLiteral) return value !== '' && value.length <= max ? undefined : `must be a string of 1 to ${max} characters`
  if (rules === 'address') return findAddressProblem(value)
  if (rules === 'credential' && value.trim() === '')
    return 'must not be blank. If it comes from an environment variable, check that the variable is set'
  if (rules === 'credential' && /^(["']).*\1$/.test(value.trim()))
    return 'is in quotes, which would be sent as part of it'
  if (rules === 'credential')
    return isSendableCredential(value.trim())
      ? undefined
      : 'must be the bare credential, without whitespace or "Bearer"'
  if (isNonEmpty && value.trim() === '') return 'must not be blank'
  if (isTrimmed && value.trim() !== value) return 'must not start or end with whitespace'
  if (value.length > max) return `must not be longer than ${max} characters`
  if (max < Number.POSITIVE_INFINITY && CONTROL.test(value)) return 'must not contain control characters'
  return pattern && !pattern.test(value) ? `must match ${pattern.source}` : undefined
}

const CONTROL = /\p{Cc}/u

function findAddressProblem(text: string): string | undefined {
  const url = text.trim()
  if (!/^https?:\/\/[^\s\\/?#@]+(?:\/[^\s\\?#]*)?$/i.test(url) || !URL.canParse(url))
    return 'must be a URL that starts with http:// or https://, without credentials or a query'
  const path = findEndpointPath(url)
  return path && `must not include "${path}", which the gateway appends`
}

function isWithin({ min, above, max, isWhole }: NumberShape, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (isWhole && !Number.isSafeInteger(value))) return false
  return value >= (min ?? value) && value <= (max ?? value) && (above === undefined || value > above)
}

const describeRange = ({ min, above, max, isWhole }: NumberShape): string =>
  `must be a ${isWhole ? 'whole ' : ''}number${min === undefined ? '' : ` of ${min} or more`}${above === undefined ? '' : ` above ${above}`}${max === undefined ? '' : `, at most ${max}`}`

const quote = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

function findFirst<T>(items: Iterable<T>, find: (item: T) => ShapeProblem | undefined): ShapeProblem | undefined {
  for (const item of items) {
    const found = find(item)
    if (found) return found
  }
  return undefined
}
