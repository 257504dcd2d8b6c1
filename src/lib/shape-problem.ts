import { assertNever } from '../lib/assert-never.ts'
import { isBareCredential } from '../lib/credential-shapes.ts'
import { isObject } from '../lib/json.ts'
import type { NumberShape, Shape, TextShape } from '../types/records/shapes.ts'

/** A problem with a value, and its location. */
export interface ShapeProblem {
  /** Empty for the value itself, otherwise such as `.baseUrl` or `[0]`. */
  path: string
  /** A predicate, such as `must be a string`. */
  problem: string
}

/** Checks a value that was written in code; returns `undefined` if it fits the shape. */
export function findShapeProblem(shape: Shape, value: unknown, path = ''): ShapeProblem | undefined {
  const fail = (problem: string): ShapeProblem => ({ path, problem })
  switch (shape.type) {
    case 'text': {
      const problem = findTextProblem(shape, value)
      return problem === undefined ? undefined : { path, problem }
    }
    case 'flag':
      return typeof value === 'boolean' ? undefined : fail('must be true or false')
    case 'time':
      return typeof value === 'string' && !Number.isNaN(Date.parse(value))
        ? undefined
        : fail('must be an ISO 8601 time')
    case 'number':
      return isWithin(shape, value) ? undefined : fail(describeRange(shape))
    case 'choice':
      return typeof value === 'string' && shape.of.includes(value)
        ? undefined
        : fail(`must be one of ${quote(shape.of)}`)
    case 'list':
      if (!Array.isArray(value)) return fail('must be an array')
      if (shape.isFilled && value.length === 0) return fail('must not be empty')
      if (value.length > shape.most) return fail(`must not contain more than ${shape.most} items`)
      return findFirst(value.entries(), ([at, item]) => findShapeProblem(shape.of, item, `${path}[${at}]`))
    case 'map':
      if (!isObject(value)) return fail('must be an object')
      return findFirst(Object.entries(value), ([name, item]) => findShapeProblem(shape.of, item, `${path}.${name}`))
    case 'object':
      return isObject(value) ? findFieldProblem(shape.fields, value, path) : fail('must be an object')
    case 'entry':
      return isObject(value) ? findEntryProblem(value, path) : findShapeProblem(MODEL, value, path)
    default:
      return assertNever(shape)
  }
}

type Fields = Readonly<Record<string, { readonly shape: Shape; readonly isOptional?: boolean }>>

/** Checks an object that may only have these fields. */
export function findFieldProblem(fields: Fields, value: Record<string, unknown>, path = ''): ShapeProblem | undefined {
  for (const name of Object.keys(value))
    if (!Object.hasOwn(fields, name))
      return { path: `${path}.${name}`, problem: `is not a known field. Known: ${quote(Object.keys(fields))}` }
  return findFirst(Object.entries(fields), ([name, { shape, isOptional }]) => {
    const inner = `${path}.${name}`
    if (!Object.hasOwn(value, name)) return isOptional ? undefined : { path: inner, problem: 'is required' }
    if (value[name] === undefined) return { path: inner, problem: UNDEFINED }
    return findShapeProblem(shape, value[name], inner)
  })
}

const UNDEFINED =
  'is undefined. If it comes from an environment variable, check that the variable is set; otherwise omit it'

/** Checks an entry. Its conditions, voices, and parameters are only checked by type. */
function findEntryProblem(entry: Record<string, unknown>, path: string): ShapeProblem | undefined {
  const { when, voices, params, ...plain } = entry
  const wrong = Object.entries({ when, voices, params }).find(([, value]) => value !== undefined && !isObject(value))
  return wrong ? { path: `${path}.${wrong[0]}`, problem: 'must be an object' } : findFieldProblem(ENTRY, plain, path)
}

const MODEL: TextShape = { type: 'text', isFilled: true, most: 512 }
const ENTRY: Fields = {
  model: { shape: MODEL },
  weight: { shape: { type: 'number', least: 0, most: 1_000 }, isOptional: true },
}

function findTextProblem({ isFilled, most, pattern, rules }: TextShape, value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a string'
  if (rules === 'address') return findAddressProblem(value)
  if (rules === 'credential' && value.trim() === '')
    return 'must not be blank. If it comes from an environment variable, check that the variable is set'
  if (rules === 'credential') return isBareCredential(value.trim()) ? undefined : 'must be the bare credential'
  if (isFilled && value.trim() === '') return 'must not be blank'
  if (most !== undefined && value.length > most) return `must not be longer than ${most} characters`
  return pattern && !pattern.test(value.trim()) ? `must match ${pattern.source}` : undefined
}

function findAddressProblem(value: string): string | undefined {
  return /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/i.test(value.trim()) && URL.canParse(value.trim())
    ? undefined
    : 'must be a URL that starts with http:// or https://, without credentials or a query'
}

function isWithin({ least, above, most, isWhole }: NumberShape, value: unknown): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value) || (isWhole && !Number.isSafeInteger(value))) return false
  return value >= (least ?? value) && value <= (most ?? value) && (above === undefined || value > above)
}

const describeRange = ({ least, above, most, isWhole }: NumberShape): string =>
  `must be a ${isWhole ? 'whole ' : ''}number${least === undefined ? '' : ` of ${least} or more`}${above === undefined ? '' : ` above ${above}`}${most === undefined ? '' : `, at most ${most}`}`

const quote = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

function findFirst<T>(items: Iterable<T>, find: (item: T) => ShapeProblem | undefined): ShapeProblem | undefined {
  for (const item of items) {
    const found = find(item)
    if (found) return found
  }
  return undefined
}
