import * as v from 'valibot'
import { isObject } from '../lib/json.ts'
import { describeEndpoint } from '../lib/shape-texts.ts'
import { findEndpointPath } from '../lib/urls.ts'
import { connectionFields, providerDataFields, topLevelFieldNames } from '../types/records/connection-fields.ts'
import type { InputOf } from '../types/records/record-fields.ts'
import type { ProviderSpecificData } from '../types.ts'
import { type ClosedSchema, closedObject, createInputError, parseInput } from './input.ts'
import { isSameJson } from './record-operations.ts'
import { createInputSchema, createSchema, listNestedFields } from './schemas.ts'

/** Names of nested connection fields, by parent field. */
const nestedFields = listNestedFields(connectionFields)

/** The fields of `providerSpecificData` that were sent at the top level; `null` removes a field. */
export type TopLevel = {
  [Name in (typeof topLevelFieldNames)[number]]?: Exclude<ProviderSpecificData[Name], undefined> | null
}

const topEntries = topLevelFieldNames.map((name) => [
  name,
  v.exactOptional(v.nullable(createSchema(providerDataFields[name].shape))),
])
const topLevelSchema = closedObject(Object.fromEntries(topEntries)) as ClosedSchema<TopLevel> // built from the fields of `TopLevel`

/** The input of `POST /api/connections`; `null` is treated as omitted. */
export const newConnectionSchema = createInputSchema(connectionFields, 'create')

/** The input of `PUT /api/connections/{id}`; `null` removes a field. Fields that the gateway sets are ignored. */
export const connectionChangeSchema = createInputSchema(connectionFields, 'update', {
  ignoredFields: ['health', 'warnings'],
})

/** The input of `connections.put`: a change, and the ID that the app has chosen. */
export const connectionPutSchema = createInputSchema(connectionFields, 'put')

/** The input schemas, including the top-level fields, which `parseConnection` parses separately. */
export const connectionInputs = {
  create: closedObject({ ...newConnectionSchema.entries, ...topLevelSchema.entries }),
  update: closedObject({ ...connectionChangeSchema.entries, ...topLevelSchema.entries }),
  put: closedObject({ ...connectionPutSchema.entries, ...topLevelSchema.entries }),
}

/** The connection fields that an input can change. */
export type ConnectionInput = Omit<InputOf<typeof connectionFields, 'update'>, 'id' | 'createdAt' | 'updatedAt'>

/** A connection input, with the top-level fields of `providerSpecificData` split off. */
export interface ParsedConnection<Fields = ConnectionInput> {
  fields: Fields
  /** The fields at the top level that belong in `providerSpecificData`. */
  topLevel: TopLevel
}

/** Parses a connection, and separately its top-level fields that belong in `providerSpecificData`. */
export function parseConnection<T>(schema: ClosedSchema<T>, input: unknown): ParsedConnection<T> {
  const isTopLevel = ([name]: [string, unknown]) => Object.hasOwn(topLevelSchema.entries, name)
  const members = isObject(input) ? Object.entries(input) : []
  const nestedInput = isObject(input) ? Object.fromEntries(members.filter((member) => !isTopLevel(member))) : input
  return {
    fields: parseInput(schema, nestedInput, nestedFields),
    topLevel: parseInput(topLevelSchema, Object.fromEntries(members.filter(isTopLevel))),
  }
}

/**
 * Returns the changed `providerSpecificData`. `data` replaces the stored object, and each top-level field changes only itself: `null` removes it, and
 * `undefined` keeps it. Throws `INVALID_REQUEST` if `data` and a top-level field conflict.
 */
export function changeProviderData(
  storedData: ProviderSpecificData | undefined,
  data: ProviderSpecificData | null | undefined,
  topLevel: TopLevel,
): ProviderSpecificData | null | undefined {
  const members = Object.entries(topLevel)
  if (members.length === 0) return data && validateProviderData(data, 'providerSpecificData.baseUrl')
  const changedData: Record<string, unknown> = { ...(data === undefined ? storedData : data) }
  for (const [name, value] of members) {
    const nestedValue = data?.[name as keyof ProviderSpecificData] // `ProviderSpecificData` has every field of `TopLevel`
    if (nestedValue !== undefined && !isSameJson(nestedValue, value))
      throw createInputError(`"${name}" and "providerSpecificData.${name}" conflict; send only one of them`)
    if (value === null) delete changedData[name]
    else changedData[name] = value
  }
  return Object.keys(changedData).length === 0
    ? null
    : validateProviderData(changedData, topLevel.baseUrl ? 'baseUrl' : 'providerSpecificData.baseUrl')
}

/**
 * Throws `INVALID_REQUEST` if the base URL already includes a path that the gateway appends; `field` is the URL field's name. Drops a blank URL,
 * which is treated as not set.
 */
function validateProviderData(data: ProviderSpecificData, field: string): ProviderSpecificData {
  const { baseUrl, ...rest } = data
  if (!baseUrl) return rest
  const path = findEndpointPath(baseUrl)
  if (path === undefined) return data
  throw createInputError(`"${field}" ${describeEndpoint(baseUrl, path)}`)
}
