import * as v from 'valibot'
import { isObject } from '../lib/json.ts'
import type { ProviderSpecificData } from '../types.ts'
import { addressProblem, closed, fields, invalidInput, noList, parseInput } from './input.ts'
import { isSameJson } from './records.ts'

/** A credential is sent as a header: pasted line ends are dropped, what no header can carry is refused. */
const apiKey = v.pipe(
  fields.text,
  v.trim(),
  v.nonEmpty('must not be blank: is the variable that it comes from set? Send null, or leave it out, for none'),
  v.check(
    (key) => !key.includes('…'),
    'holds "…", which stands for what is not shown; send the whole key, or leave it out to keep the stored one',
  ),
  v.regex(
    /^[\x21-\x7e]+$|^\{/,
    'must be the bare key: one line of plain characters, without blanks and without "Bearer"',
  ),
  v.maxLength(8_192, 'must not be longer than 8192 characters'),
)

const baseUrl = v.pipe(
  fields.text,
  v.trim(),
  v.rawCheck(({ dataset, addIssue }) => {
    const problem = dataset.typed && dataset.value !== '' ? addressProblem(dataset.value) : undefined
    if (problem) addIssue({ message: problem })
  }),
)

/** What becomes part of an address. */
function setting(shape: RegExp, message: string) {
  return v.pipe(fields.text, v.trim(), v.regex(shape, message))
}

/** The id of a model to list. */
export const enabledModel = fields.raw(512)
export const MAX_ENABLED = 5_000

const providerSpecificData = closed({
  prefix: v.exactOptional(fields.raw(200)),
  sharesPrefix: v.exactOptional(fields.flag),
  enabledModels: v.exactOptional(
    v.pipe(
      v.array(enabledModel, 'must be a list of model ids'),
      v.maxLength(MAX_ENABLED, `must not hold more than ${MAX_ENABLED} ids`),
    ),
  ),
  baseUrl: v.exactOptional(baseUrl),
  format: v.exactOptional(fields.format),
  resource: v.exactOptional(setting(/^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/, 'must be the name alone, without its address')),
  region: v.exactOptional(setting(/^[a-z0-9-]{2,40}$/, 'must be a region such as "us-east-1"')),
  project: v.exactOptional(setting(/^[a-z0-9][a-z0-9.:-]{0,62}$/, 'must be the id of a project such as "my-project"')),
  apiVersion: v.exactOptional(setting(/^[\w.-]{1,40}$/, 'must be a version such as "2024-10-21"')),
  deployment: v.exactOptional(setting(/^[\w.-]{1,64}$/, 'must be the name of a deployment')),
})

/** What belongs in a field of a connection, by its name. */
const innerFields = { providerSpecificData: Object.keys(providerSpecificData.entries) }

/** The members of `providerSpecificData` that a connection may carry at its top level as well; `null` removes. */
const topLevel = closed({
  prefix: v.exactOptional(v.nullable(fields.raw(200))),
  sharesPrefix: v.exactOptional(v.nullable(fields.flag)),
  enabledModels: v.exactOptional(v.nullable(providerSpecificData.entries.enabledModels.wrapped)),
  baseUrl: v.exactOptional(v.nullable(baseUrl)),
  format: v.exactOptional(v.nullable(fields.format)),
})

const shared = {
  isActive: v.exactOptional(fields.flag),
  draining: v.exactOptional(fields.flag),
  priority: v.exactOptional(v.nullable(v.pipe(v.number('must be a number'), v.finite('must be a number')))),
  apiKey: v.exactOptional(v.nullable(apiKey)),
  providerSpecificData: v.exactOptional(v.nullable(v.pipe(noList(), providerSpecificData))),
  /** Carried out with the change, and kept nowhere. */
  discover: v.exactOptional(fields.flag),
}

/** What `POST /api/connections` takes; `null` counts as absent. */
export const newConnection = closed({ provider: fields.name, name: v.exactOptional(fields.name), ...shared })

/** What `PUT /api/connections/{id}` takes; `null` removes. What the gateway has set may be sent back and is ignored. */
export const connectionChange = closed({
  name: v.exactOptional(fields.name),
  ...shared,
  provider: v.exactOptional(fields.text),
  id: v.exactOptional(fields.text),
  createdAt: fields.ignored,
  updatedAt: fields.ignored,
  health: fields.ignored,
  warnings: fields.ignored,
})

/** What `connections.put` takes: a change, and the id that the host has chosen. */
export const connectionPut = closed({
  id: fields.recordId,
  name: v.exactOptional(fields.name),
  ...shared,
  provider: fields.name,
})

/** The members of `providerSpecificData` at the top level included, which are parsed apart (`parseConnection`). */
export const connectionInputs = {
  create: closed({ ...newConnection.entries, ...topLevel.entries }),
  update: closed({ ...connectionChange.entries, ...topLevel.entries }),
  put: closed({ ...connectionPut.entries, ...topLevel.entries }),
}

/** The members of `providerSpecificData` that stood at the top level. */
export type TopLevel = v.InferOutput<typeof topLevel>

/** Parses a connection by one of the schemas above, and apart from it the members at its top level that belong further in. */
export function parseConnection<E extends v.ObjectEntries>(schema: ReturnType<typeof closed<E>>, input: unknown) {
  const isTop = ([name]: [string, unknown]) => Object.hasOwn(topLevel.entries, name)
  const members = isObject(input) ? Object.entries(input) : []
  const rest = isObject(input) ? Object.fromEntries(members.filter((member) => !isTop(member))) : input
  return {
    given: parseInput(schema, rest, innerFields),
    top: parseInput(topLevel, Object.fromEntries(members.filter(isTop))),
  }
}

/**
 * The `providerSpecificData` after a change: `given` replaces what is `stored`, and members at the top level change only themselves. `null`
 * removes it, `undefined` leaves it. Throws `INVALID_REQUEST` when the two disagree, and what `checkedData` throws.
 */
export function changedData(
  stored: ProviderSpecificData | undefined,
  given: ProviderSpecificData | null | undefined,
  top: TopLevel,
): ProviderSpecificData | null | undefined {
  const members = Object.entries(top)
  if (members.length === 0) return given && checkedData(given)
  const next: Record<string, unknown> = { ...(given === undefined ? stored : given) }
  for (const [name, value] of members) {
    const other = given?.[name as keyof ProviderSpecificData] // a member of both
    if (other !== undefined && !isSameJson(other, value))
      throw invalidInput(`"${name}" and "providerSpecificData.${name}" differ; send one of them`)
    if (value === null) delete next[name]
    else next[name] = value
  }
  return Object.keys(next).length === 0 ? null : checkedData(next)
}

/**
 * Throws `INVALID_REQUEST` when the base URL already holds a path that the gateway adds; one that ends in `/messages` is specified
 * (spec.md, Upstream model fetch). A blank one is dropped: it counts as not set.
 */
function checkedData(data: ProviderSpecificData): ProviderSpecificData {
  const { baseUrl, ...rest } = data
  if (!baseUrl) return rest
  const [path] = ENDPOINT.exec(baseUrl) ?? []
  if (path === undefined) return data
  const base = baseUrl.slice(0, -path.length)
  throw invalidInput(`"providerSpecificData.baseUrl" must end before "${path}", which the gateway adds: "${base}"`)
}

const ENDPOINT = /\/(?:chat\/completions|completions|responses|embeddings)\/*$/i
