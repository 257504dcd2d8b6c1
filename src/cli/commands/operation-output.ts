import { resultTypes } from '../../admin/http/openapi/result-types.data.ts'
import { convertType } from '../../admin/http/openapi/type-text.ts'
import type { NamedOperation } from '../../admin/operation-table.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { createJsonSchemaConverter } from '../../lib/json-schema.ts'
import type { CommandOutput } from './command.ts'
import { type FieldColumn, formatDetails, formatTable, toTitle } from './text-table.ts'

export const { convert } = createJsonSchemaConverter(new Map(), '')

const types = new Map(resultTypes.split('\n').map((line) => line.split(' = ', 2) as [name: string, type: string]))
const describeType = (name: string): JsonObject => convertType(types.get(name) ?? 'unknown', describeType)

/** Returns the JSON Schema of an operation's result. */
export const describeOutput = ({ names, output }: NamedOperation): JsonObject =>
  output ? convert(output) : describeType(names.join('.'))

/** How to print a response if its output schema doesn't determine that. */
export interface ResultFormat {
  /** Returns the list's rows, if the response contains them in a different form. */
  rows?(body: never): readonly object[]
  /** The list's columns. Default: the fields with simple values. */
  columns?: readonly FieldColumn<never>[]
  /** The text for an empty list. */
  none?: string
  /** The text for a response that contains only `success`. */
  done?: string
}

/**
 * Formats an operation's response: a list as a table, and a record with one field per line. Lists within a record become tables below their titles.
 * `schema` describes the output.
 */
export function formatOutput(
  body: object,
  schema: JsonObject,
  { rows, columns, none, done }: ResultFormat,
): CommandOutput {
  const properties = getProperties(schema)
  const fields = Object.entries(body).filter(([name]) => properties[name]?.const === undefined) // constants contain no information
  const { warnings, ...response }: JsonObject = Object.fromEntries(fields)
  const printed = Array.isArray(warnings) ? { body, warnings: warnings.map(String) } : { body }
  const { after, before, ...content } = response
  const cursor = Object.entries({ after, before }).find(([, value]) => typeof value === 'string')
  const more = cursor ? `More: --${cursor[0]} ${cursor[1]}\n` : ''
  const [[name, only] = ['', undefined], ...others] = Object.entries(content)
  const isWrapped = isObject(only) && others.length === 0 && !rows
  const record = isWrapped ? only : content
  const found = findLists(record, isWrapped ? (properties[name] ?? {}) : schema)
  const lists = rows ? [{ path: [name], rows: rows(body as never), item: {} }] : found // `rows` takes this operation's body
  const single = withoutLists(record, lists)
  const isList = Object.keys(single).length === 0
  if (isList && lists.length === 0) return { ...printed, text: `${done}\n` }
  const tables = lists.map((list) => (list.rows.length > 0 ? formatList(list, columns) : ''))
  if (isList && lists.length === 1) return { ...printed, text: (tables[0] || `${none}\n`) + more }
  const titledTables = tables.flatMap((text, index) =>
    text === '' ? [] : [`${toHeading(lists[index]?.path ?? [])}:\n${text}`],
  )
  return { ...printed, text: [formatDetails(single), ...titledTables].filter((block) => block !== '').join('\n') }
}

/** A list of objects in a response, with its path. */
interface FoundList {
  path: readonly string[]
  rows: readonly object[]
  item: JsonObject
}

function findLists(value: JsonObject, schema: JsonObject, parents: readonly string[] = []): FoundList[] {
  return Object.entries(getProperties(schema)).flatMap(([name, property]) => {
    const inner = value[name]
    const path = [...parents, name]
    if (isObject(inner)) return findLists(inner, property, path)
    const item: JsonObject = Object(property.items) // empty unless it is an array
    const hasRows = Array.isArray(inner) && Object.keys(getProperties(item)).length > 0 && inner.every(isObject)
    return hasRows && !isUnion(item) ? [{ path, rows: inner, item }] : []
  })
}

/** Returns whether the values can also be something other than objects. */
const isUnion = ({ anyOf = [] }: JsonObject) =>
  Array.isArray(anyOf) && anyOf.some((alternative) => isObject(alternative) && !('properties' in alternative))

function withoutLists(record: JsonObject, lists: readonly FoundList[]): JsonObject {
  const fields = Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    const inside = lists.filter(({ path }) => path[0] === name).map((list) => ({ ...list, path: list.path.slice(1) }))
    if (inside.some(({ path }) => path.length === 0)) return []
    return [[name, isObject(value) && inside.length > 0 ? withoutLists(value, inside) : value]]
  })
  return Object.fromEntries(fields)
}

const formatList = ({ rows, item }: FoundList, columns?: readonly FieldColumn<never>[]) =>
  formatTable((columns as readonly FieldColumn<object>[] | undefined) ?? listSimpleFields(item), rows) // the columns belong to the operation's rows

/** Returns the names of fields with simple values. */
const listSimpleFields = (schema: JsonObject): FieldColumn<object>[] =>
  Object.entries(getProperties(schema))
    .filter(
      ([, { type, const: constant, enum: choices }]) =>
        constant ?? choices ?? /string|number|integer|boolean/.test(String(type)),
    )
    .map(([name]) => [toTitle(name), (row) => formatCell(Reflect.get(row, name))])

const formatCell = (value: unknown) => (value === undefined || value === null ? undefined : String(value))

/** Returns an object's properties, or those of all its alternatives. */
export function getProperties({ properties, anyOf }: JsonObject): Readonly<Record<string, JsonObject>> {
  const alternatives = Array.isArray(anyOf) ? anyOf.filter(isObject).map(getProperties) : []
  return Object.assign({}, ...alternatives, properties)
}

/** Converts a path to a heading: `Near limits` for `nearLimits`, `Usage rows` for `rows` in `usage`. */
function toHeading(path: readonly string[]): string {
  const words = path.map(toTitle).join(' ').toLowerCase()
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}
