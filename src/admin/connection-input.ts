import * as v from 'valibot'
import { isObject } from '../lib/json.ts'
import { connectionFields, dataMembers, topLevelMembers } from '../types/records/connection-fields.ts'
import type { ProviderSpecificData } from '../types.ts'
import { type ClosedSchema, closed, invalidInput, parseInput } from './input.ts'
import { isSameJson } from './record-operations.ts'
import { givenSchema, inputSchema, membersByField } from './schemas.ts'

/** What belongs in a field of a connection, by its name. */
const innerFields = membersByField(connectionFields)

/** The members of `providerSpecificData` that stood at the top level; `null` removes. */
export type TopLevel = {
  [Name in (typeof topLevelMembers)[number]]?: Exclude<ProviderSpecificData[Name], undefined> | null
}

const topEntries = topLevelMembers.map((name) => [
  name,
  v.exactOptional(v.nullable(givenSchema(dataMembers[name].shape))),
])
const topLevel = closed(Object.fromEntries(topEntries)) as ClosedSchema<TopLevel> // of the same members

/** What `POST /api/connections` takes; `null` counts as absent. */
export const newConnection = inputSchema(connectionFields, 'create')

/** What `PUT /api/connections/{id}` takes; `null` removes. What the gateway has set may be sent back and is ignored. */
export const connectionChange = inputSchema(connectionFields, 'update', { ignores: ['health', 'warnings'] })

/** What `connections.put` takes: a change, and the id that the host has chosen. */
export const connectionPut = inputSchema(connectionFields, 'put')

/** The members of `providerSpecificData` at the top level included, which are parsed apart (`parseConnection`). */
export const connectionInputs = {
  create: closed({ ...newConnection.entries, ...topLevel.entries }),
  update: closed({ ...connectionChange.entries, ...topLevel.entries }),
  put: closed({ ...connectionPut.entries, ...topLevel.entries }),
}

/** Parses a connection by one of the schemas above, and apart from it the members at its top level that belong further in. */
export function parseConnection<T>(schema: ClosedSchema<T>, input: unknown): { given: T; top: TopLevel } {
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
      throw invalidInput(`"${name}" and "providerSpecificData.${name}" conflict; send only one of them`)
    if (value === null) delete next[name]
    else next[name] = value
  }
  return Object.keys(next).length === 0 ? null : checkedData(next)
}

/**
 * Throws `INVALID_REQUEST` when the base URL already holds a path that the gateway adds; one that ends in `/messages` is allowed
 * (src/rules.md, Models of compatible providers). A blank one is dropped: it counts as not set.
 */
function checkedData(data: ProviderSpecificData): ProviderSpecificData {
  const { baseUrl, ...rest } = data
  if (!baseUrl) return rest
  const [path] = ENDPOINT.exec(baseUrl) ?? []
  if (path === undefined) return data
  const base = baseUrl.slice(0, -path.length)
  throw invalidInput(
    `"providerSpecificData.baseUrl" must not include "${path}", which the gateway appends. Use "${base}"`,
  )
}

const ENDPOINT = /\/(?:chat\/completions|completions|responses|embeddings)\/*$/i
