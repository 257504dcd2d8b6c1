import { isObject } from '../../lib/json.ts'
import { toList, toObject } from './field-values.ts'
import type { PlannedValue } from './plan.ts'

/* Converts the conditions of Portkey's conditional strategy to combo entries' `when`. */

interface EntryCondition {
  metadata: Readonly<Record<string, PlannedValue>>
  model?: PlannedValue
}

/** Returns a query's alternatives, each as an entry's `when`, or `undefined` if `when` can't express the query. */
export function toConditions(query: unknown): PlannedValue[] | undefined {
  const all = listAlternatives(query)
  const whens = all?.map(({ metadata, model }) => ({
    ...(model !== undefined && { model }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }))
  return whens && whens.length > 0 && whens.every((when) => Object.keys(when).length > 0) ? whens : undefined
}

function listAlternatives(query: unknown): EntryCondition[] | undefined {
  let all: EntryCondition[] = [{ metadata: {} }]
  for (const [name, test] of Object.entries(toObject(query))) {
    const options =
      name === '$and'
        ? combineAll(toList(test))
        : name === '$or'
          ? joinAlternatives(toList(test))
          : parseTest(name, test)
    const together = options && combine(all, options)
    if (!together || together.length > MAX_ALTERNATIVES) return undefined
    all = together
  }
  return all
}

/** Maximum entries in a combo. */
const MAX_ALTERNATIVES = 100

function joinAlternatives(parts: readonly unknown[]): EntryCondition[] | undefined {
  const found = parts.map(listAlternatives)
  return found.every((part) => part !== undefined) ? found.flat() : undefined
}

function combineAll(parts: readonly unknown[]): EntryCondition[] | undefined {
  let all: EntryCondition[] | undefined = [{ metadata: {} }]
  for (const part of parts) {
    const options = listAlternatives(part)
    all = all && options && combine(all, options)
    if (!all || all.length > MAX_ALTERNATIVES) return undefined
  }
  return all
}

function parseTest(name: string, test: unknown): EntryCondition[] | undefined {
  const value = readTestValue(test)
  const member = /^metadata\.(.+)$/.exec(name)?.[1]
  if (value === undefined || (member === undefined && name !== 'params.model') || member === '__proto__')
    return undefined
  return [member === undefined ? { metadata: {}, model: value } : { metadata: Object.fromEntries([[member, value]]) }]
}

/** Lists the models that a query compares with the request's model. */
export function listTestedModels(query: unknown): readonly string[] {
  return Object.entries(toObject(query)).flatMap(([name, test]) => {
    if (name === '$and' || name === '$or') return toList(test).flatMap(listTestedModels)
    const value = name === 'params.model' ? readTestValue(test) : undefined
    return [value].flat().filter((item) => typeof item === 'string')
  })
}

/**
 * Combines each condition in one list with each condition in the other. Returns `undefined` if two of them test the same value, which `when` can't
 * express.
 */
function combine(some: readonly EntryCondition[], more: readonly EntryCondition[]): EntryCondition[] | undefined {
  const pairs = some.flatMap((one) => more.map((other) => ({ one, other })))
  const clash = pairs.some(
    ({ one, other }) =>
      (one.model !== undefined && other.model !== undefined) ||
      Object.keys(one.metadata).some((name) => Object.hasOwn(other.metadata, name)),
  )
  if (clash) return undefined
  return pairs.map(({ one, other }) => ({ ...one, ...other, metadata: { ...one.metadata, ...other.metadata } }))
}

/** Reads the string or strings that a value must equal. A string with a `*` can't be expressed, because `*` matches anything in `when`. */
function readTestValue(test: unknown): PlannedValue | undefined {
  const { $eq, $in, ...others } = isObject(test) ? test : { $eq: test }
  const text = (value: unknown) =>
    ['string', 'number', 'boolean'].includes(typeof value) &&
    !String(value).includes('*') &&
    String(value).length <= MAX_TEXT
      ? String(value)
      : undefined
  if (Object.keys(others).length > 0) return undefined
  if ($in === undefined) return text($eq)
  const texts = toList($in).map(text)
  return texts.length > 0 && texts.length <= MAX_TEXTS && texts.every((text) => text !== undefined)
    ? texts.filter((text) => text !== undefined)
    : undefined
}

const MAX_TEXTS = 100
const MAX_TEXT = 500
