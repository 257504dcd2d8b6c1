import { isObject } from '../../lib/json.ts'
import { listOf, objectOf } from './given-fields.ts'
import type { PlannedValue } from './plan.ts'

/* The conditions of Portkey's conditional strategy, as `when` of entries of a combo. */

interface EntryCondition {
  metadata: Readonly<Record<string, PlannedValue>>
  model?: PlannedValue
}

/** The alternatives of a query, each as the `when` of an entry; `undefined` when `when` cannot express the query. */
export function conditionsOf(query: unknown): PlannedValue[] | undefined {
  const all = alternativesOf(query)
  const whens = all?.map(({ metadata, model }) => ({
    ...(model !== undefined && { model }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }))
  return whens && whens.length > 0 && whens.every((when) => Object.keys(when).length > 0) ? whens : undefined
}

function alternativesOf(query: unknown): EntryCondition[] | undefined {
  let all: EntryCondition[] = [{ metadata: {} }]
  for (const [name, test] of Object.entries(objectOf(query))) {
    const options = name === '$and' ? everyOf(listOf(test)) : name === '$or' ? someOf(listOf(test)) : oneOf(name, test)
    const together = options && both(all, options)
    if (!together || together.length > MAX_ALTERNATIVES) return undefined
    all = together
  }
  return all
}

/** The most entries of a combo. */
const MAX_ALTERNATIVES = 100

function someOf(parts: readonly unknown[]): EntryCondition[] | undefined {
  const found = parts.map(alternativesOf)
  return found.every((part) => part !== undefined) ? found.flat() : undefined
}

function everyOf(parts: readonly unknown[]): EntryCondition[] | undefined {
  let all: EntryCondition[] | undefined = [{ metadata: {} }]
  for (const part of parts) {
    const options = alternativesOf(part)
    all = all && options && both(all, options)
    if (!all || all.length > MAX_ALTERNATIVES) return undefined
  }
  return all
}

function oneOf(name: string, test: unknown): EntryCondition[] | undefined {
  const value = valueOfTest(test)
  const member = /^metadata\.(.+)$/.exec(name)?.[1]
  if (value === undefined || (member === undefined && name !== 'params.model') || member === '__proto__')
    return undefined
  return [member === undefined ? { metadata: {}, model: value } : { metadata: Object.fromEntries([[member, value]]) }]
}

/** The models that a query compares the model of the request with. */
export function modelsAsked(query: unknown): readonly string[] {
  return Object.entries(objectOf(query)).flatMap(([name, test]) => {
    if (name === '$and' || name === '$or') return listOf(test).flatMap(modelsAsked)
    const value = name === 'params.model' ? valueOfTest(test) : undefined
    return [value].flat().filter((one) => typeof one === 'string')
  })
}

/** Each condition of one list joined with each of the other; `undefined` when two of them test the same value, which one `when` cannot do. */
function both(some: readonly EntryCondition[], more: readonly EntryCondition[]): EntryCondition[] | undefined {
  const pairs = some.flatMap((one) => more.map((other) => ({ one, other })))
  const clash = pairs.some(
    ({ one, other }) =>
      (one.model !== undefined && other.model !== undefined) ||
      Object.keys(one.metadata).some((name) => Object.hasOwn(other.metadata, name)),
  )
  if (clash) return undefined
  return pairs.map(({ one, other }) => ({ ...one, ...other, metadata: { ...one.metadata, ...other.metadata } }))
}

/** The text or texts that a value must equal. In a `when`, `*` stands for any text, so a text with a `*` cannot be expressed. */
function valueOfTest(test: unknown): PlannedValue | undefined {
  const { $eq, $in, ...others } = isObject(test) ? test : { $eq: test }
  const text = (value: unknown) =>
    ['string', 'number', 'boolean'].includes(typeof value) &&
    !String(value).includes('*') &&
    String(value).length <= MAX_TEXT
      ? String(value)
      : undefined
  if (Object.keys(others).length > 0) return undefined
  if ($in === undefined) return text($eq)
  const texts = listOf($in).map(text)
  return texts.length > 0 && texts.length <= MAX_TEXTS && texts.every((one) => one !== undefined)
    ? texts.filter((one) => one !== undefined)
    : undefined
}

const MAX_TEXTS = 100
const MAX_TEXT = 500
