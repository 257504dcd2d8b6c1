import * as v from 'valibot'
import { isObject } from '../lib/json.ts'
import { describeEndpoint } from '../lib/shape-texts.ts'
import { findEndpointPath } from '../lib/urls.ts'
import { connectionFields, providerDataFields, topLevelFieldNames } from '../types/records/connection-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { ProviderSpecificData } from '../types.ts'
import { type ClosedSchema, closedObject, createInputError, parseInput } from './input.ts'
import { isSameJson } from './record-operations.ts'
import { createInputSchema, createSchema, listInnerFields } from './schemas.ts'

/** Names of nested connection fields, by parent field. */
const innerFields = listInnerFields(connectionFields)

/** The fields of `providerSpecificData` that were sent at the top level; `null` removes a field. */
export type TopLevel = {
  [Name in (typeof topLevelFieldNames)[number]]?: Exclude<ProviderSpecificData[Name], undefined> | null
}

const topEntries = topLevelFieldNames.map((name) => [
  name,
  v.exactOptional(v.nullable(createSchema(providerDataFields[name].shape))),
])
const topLevel = closedObject(Object.fromEntries(topEntries)) as ClosedSchema<TopLevel> // built from the fields of `TopLevel`

/** The input of `POST /api/connections`; `null` is treated as omitted. */
export const newConnection = createInputSchema(connectionFields, 'create')

/** The input of `PUT /api/connections/{id}`; `null` removes a field. Fields that the gateway sets are ignored. */
export const connectionChange = createInputSchema(connectionFields, 'update', { ignoredFields: ['health', 'warnings'] })

/** The input of `connections.put`: a change, and the ID that the app has chosen. */
export const connectionPut = createInputSchema(connectionFields, 'put')

/** The input schemas, including the top-level fields, which `parseConnection` parses separately. */
export const connectionInputs = {
  create: closedObject({ ...newConnection.entries, ...topLevel.entries }),
  update: closedObject({ ...connectionChange.entries, ...topLevel.entries }),
  put: closedObject({ ...connectionPut.entries, ...topLevel.entries }),
}

/** The connection fields that an input can change. */
export type ConnectionInput = Omit<InputOf<typeof connectionFields, 'update'>, 'id' | 'createdAt' | 'updatedAt'>

/** A connection input, with the top-level fields of `providerSpecificData` split off. */
export interface ParsedConnection<Fields = ConnectionInput> {
  fields: Fields
  /** The fields at the top level that belong in `providerSpecificData`. */
  top: TopLevel
}

/** Parses a connection, and separately its top-level fields that belong in `providerSpecificData`. */
export function parseConnection<T>(schema: ClosedSchema<T>, input: unknown): ParsedConnection<T> {
  const isTop = ([name]: [string, unknown]) => Object.hasOwn(topLevel.entries, name)
  const members = isObject(input) ? Object.entries(input) : []
  const rest = isObject(input) ? Object.fromEntries(members.filter((member) => !isTop(member))) : input
  return {
    fields: parseInput(schema, rest, innerFields),
    top: parseInput(topLevel, Object.fromEntries(members.filter(isTop))),
  }
}

/**
 * Returns the changed `providerSpecificData`. `data` replaces the stored object, and each top-level field changes only itself: `null` removes it, and
 * `undefined` keeps it. Throws `INVALID_REQUEST` if `data` and a top-level field conflict.
 */
export function changeProviderData(
  stored: ProviderSpecificData | undefined,
  data: ProviderSpecificData | null | undefined,
  top: TopLevel,
): ProviderSpecificData | null | undefined {
  const members = Object.entries(top)
  if (members.length === 0) return data && checkData(data, 'providerSpecificData.baseUrl')
  const next: Record<string, unknown> = { ...(data === undefined ? stored : data) }
  for (const [name, value] of members) {
    const other = data?.[name as keyof ProviderSpecificData] // `ProviderSpecificData` has every field of `TopLevel`
    if (other !== undefined && !isSameJson(other, value))
      throw createInputError(`"${name}" and "providerSpecificData.${name}" conflict; send only one of them`)
    if (value === null) delete next[name]
    else next[name] = value
  }
  return Object.keys(next).length === 0
    ? null
    : checkData(next, top.baseUrl ? 'baseUrl' : 'providerSpecificData.baseUrl')
}

/**
 * Throws `INVALID_REQUEST` if the base URL already includes a path that the gateway appends; `field` is the URL field's name. Drops a blank URL,
 * which is treated as not set.
 */
function checkData(data: ProviderSpecificData, field: string): ProviderSpecificData {
  const { baseUrl, ...rest } = data
  if (!baseUrl) return rest
  const path = findEndpointPath(baseUrl)
  if (path === undefined) return data
  throw createInputError(`"${field}" ${describeEndpoint(baseUrl, path)}`)
}
