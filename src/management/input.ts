import * as v from 'valibot'
import { type GatewayError, gatewayError } from '../errors.ts'
import { didYouMean } from '../lib/did-you-mean.ts'
import { isObject } from '../lib/json.ts'
import { nearest } from '../lib/nearest.ts'
import { fields } from './fields.ts'

type Entries = v.ObjectEntries

/** The schema of an object that refuses fields it does not know. Messages of its fields are predicates: `must be text`. */
export function closed<const E extends Entries>(entries: E) {
  return v.strictObject(entries, (issue) => {
    if (issue.expected === 'never') return hint(String(issue.input), fieldsToSend(entries))
    const entry = entries[fieldOf(issue)]
    return (entry && v.safeParse(entry, undefined).issues?.[0]?.message) ?? 'must be an object'
  })
}

/** To stand before the schema of an object, to which a list is one too. */
export const noList = (message = 'must be an object') =>
  v.pipe(
    v.unknown(),
    v.check((value) => !Array.isArray(value), message),
  )

/**
 * Parses a caller's input; what is `undefined` counts as absent. Throws `INVALID_REQUEST` with a sentence on what to do; `inner` are the
 * fields that belong into one of its fields, by the name of that.
 */
export function parseInput<E extends Entries>(
  schema: ReturnType<typeof closed<E>>,
  input: unknown,
  inner: Readonly<Record<string, readonly string[]>> = {},
) {
  const names = fieldsToSend(schema.entries)
  if (!isObject(input)) throw invalidInput(`Send an object with ${list(names)}.`)
  for (const field of Object.keys(input)) {
    if (Object.hasOwn(schema.entries, field)) continue
    throw invalidInput(unknownField(field, innerHint(field, names, inner) ?? hint(field, names)))
  }
  const result = v.safeParse(schema, withoutUndefined(input, 1), { abortEarly: true })
  if (result.success) return result.output
  throw invalidInput(sentence(result.issues[0]))
}

export const invalidInput = (message: string): GatewayError => gatewayError('INVALID_REQUEST', { message })

/** Not those that are ignored, and not those that are always refused. */
const fieldsToSend = (entries: Entries): string[] =>
  Object.keys(entries).filter((name) => entries[name] !== fields.ignored && entries[name] !== fields.notYet)

function withoutUndefined(input: unknown, levels: number): unknown {
  if (!isObject(input)) return input
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    given.map(([name, value]) => [name, levels > 0 ? withoutUndefined(value, levels - 1) : value]),
  )
}

interface Issue extends Pick<v.BaseIssue<unknown>, 'input' | 'message' | 'type' | 'expected'> {
  path?: ReadonlyArray<{ key: unknown }> | undefined
}

function sentence(issue: Issue): string {
  if (issue.type === 'strict_object' && issue.expected === 'never') return unknownField(pathOf(issue), issue.message)
  return `"${pathOf(issue)}" ${issue.input === undefined ? 'is required and ' : ''}${issue.message}`
}

const fieldOf = (issue: Pick<Issue, 'path'>) => String(issue.path?.at(-1)?.key)

/** `models[0]`, `providerSpecificData.baseUrl`. */
const pathOf = ({ path = [] }: Issue) =>
  path.map(({ key }, at) => (typeof key === 'number' ? `[${key}]` : `${at ? '.' : ''}${String(key)}`)).join('')

const unknownField = (field: string, meant: string) =>
  `Unknown field "${field.length > MAX_SHOWN ? `${field.slice(0, MAX_SHOWN)}…` : field}". ${meant}`

function hint(field: string, known: readonly string[]): string {
  return didYouMean(nearest(field, known, 1)) ?? `Known: ${list(known)}.`
}

/** For a field that belongs in another one, and is not one of the fields misspelt. */
function innerHint(field: string, fields: readonly string[], inner: Readonly<Record<string, readonly string[]>>) {
  for (const [outer, names] of Object.entries(inner)) {
    const belongs = `It belongs in "${outer}".`
    if (names.includes(field)) return belongs
    const meant = didYouMean(nearest(field, fields, 1).length > 0 ? [] : nearest(field, names, 1))
    if (meant) return `${meant} ${belongs}`
  }
  return undefined
}

const MAX_SHOWN = 60

const list = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')
