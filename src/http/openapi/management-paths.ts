import * as v from 'valibot'
import type { JsonObject } from '../../lib/json.ts'
import { inputs } from '../../management/management.ts'
import { type ServedOperation, takesBody } from '../../management/operations.ts'
import { namedOutputs, outputs } from '../../management/outputs.ts'
import { LIVE, liveInput } from '../live.ts'
import { TRY, tryInput } from '../try.ts'
import { LIVE_USAGE } from '../usage-live.ts'
import {
  anyOf,
  type Builder,
  capitalised,
  jsonContent,
  type Paths,
  parameter,
  pathParameters,
  templateOf,
} from './parts.ts'
import { liveWords, operationWords, queryWords } from './words.ts'

/** The operations of a route of the management API: one, or several that are told apart by the member `action` of the body. */
export type ManagementRoute = readonly [Row, ...Row[]]

type Row = Pick<
  ServedOperation,
  'method' | 'path' | 'action' | 'ifMatch' | 'hasInput' | 'isBodyOptional' | 'hasQuery' | 'exports' | 'status' | 'names'
>

/** The body of an error. */
const managementError = v.object({ error: v.string() })

/** The body of the error of a change that was based on an older version of the record. */
const changedMeanwhile = v.object({ error: v.string(), current: v.exactOptional(v.record(v.string(), v.unknown())) })

/** The names of the schemas that the management API refers to: those of its responses, and one for each input. */
export function managementSchemaNames(rows: readonly Row[]): Map<object, string> {
  const names = new Map<object, string>(Object.entries(namedOutputs).map(([name, schema]) => [schema, name]))
  names.set(managementError, 'Error')
  names.set(changedMeanwhile, 'ChangedMeanwhile')
  for (const row of rows) {
    const input = schemaOf(inputs, row)
    if (input && row.action === undefined && !row.hasQuery) names.set(input, `${capitalised(idOf(row.names))}Input`)
  }
  return names
}

/** The paths under `/api`. `security`: the credentials that the guard demands. */
export function managementPaths(
  routes: readonly ManagementRoute[],
  { convert, errors: errorResponses }: Builder,
  security: JsonObject[],
): Paths {
  const paths: Paths = {}
  const taken = new Set<string>()

  for (const route of routes) {
    const [{ method, path, status = 200, names, exports: exported }] = route
    const hasBody = takesBody(route[0])
    const inPath = pathParameters(path)
    const parameters = [...inPath, ...queryParameters(route[0]), ...(route[0].ifMatch ? [ifMatch()] : [])]
    const { errors = [], ...said } = wordsOf(route)
    const statuses = [...ALWAYS, ...(hasBody ? WITH_BODY : []), ...(inPath.length > 0 ? WITH_PARAMETER : [])]
    const template = templateOf(path)
    const outcomes = route.map((row) => convert(present(schemaOf(outputs, row), row)))
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: {
        operationId: freeId(route, taken),
        tags: names.slice(0, 1),
        ...said,
        security,
        ...(parameters.length > 0 && { parameters }),
        ...(hasBody && {
          requestBody: { required: !route[0].isBodyOptional, content: jsonContent(anyOf(route.map(inputOf))) },
        }),
        responses: {
          [status]: { description: 'Done.', content: { ...jsonContent(anyOf(outcomes)), ...(exported && EXPORTS) } },
          ...errorResponses([...statuses, ...errors], 'Error', convert(managementError)),
          ...(route[0].ifMatch && errorResponses([409], 'Conflict', convert(changedMeanwhile))),
        },
      },
    }
  }

  /** The parameters of the query, where the operation has one, each with what is said of it. */
  function queryParameters(row: Row): JsonObject[] {
    const input = row.hasQuery ? convert(present(schemaOf(inputs, row), row)) : {}
    const members: Array<[string, JsonObject]> = Object.entries(Object(input.properties))
    return [
      ...members.map(([name, schema]) => parameter('query', name, queryWords[name], schema)),
      ...(row.exports ? [parameter('query', 'format', queryWords.format, FORMAT)] : []),
    ]
  }

  /** The body that calls an operation. */
  function inputOf(row: Row): JsonObject {
    const input =
      row.hasInput === false
        ? { type: 'object', additionalProperties: false }
        : convert(present(schemaOf(inputs, row), row))
    if (row.action === undefined) return input
    const { properties = {}, required = [] } = input
    return {
      ...input,
      title: capitalised(idOf(row.names)),
      properties: { action: { const: row.action }, ...Object(properties) },
      required: ['action', ...(Array.isArray(required) ? required : [])],
    }
  }

  const liveMembers: Array<[string, JsonObject]> = Object.entries(Object(convert(liveInput).properties))
  const liveParameters = [
    ...liveMembers.map(([name, schema]) => parameter('query', name, liveWords[name], schema)),
    parameter('header', 'last-event-id', liveWords['last-event-id'], { type: 'string' }),
  ]
  return {
    ...paths,
    [LIVE]: { get: eventStream('live', { tag: 'live', words: 'live', parameters: liveParameters }) },
    [LIVE_USAGE]: { get: eventStream('usageLive', { tag: 'usage', words: 'usage.live' }) },
    [TRY]: { post: trying() },
  }

  function trying(): JsonObject {
    const { errors = [], ...said } = operationWords.try ?? {}
    const answers = { 'application/json': { schema: {} }, 'text/event-stream': { schema: { type: 'string' } } }
    return {
      operationId: 'try',
      tags: ['try'],
      ...said,
      security,
      requestBody: { required: true, content: jsonContent(convert(tryInput)) },
      responses: {
        200: { description: 'The answer to the request.', content: answers },
        ...errorResponses([...ALWAYS, ...errors], 'Error', convert(managementError)),
      },
    }
  }

  function eventStream(
    operationId: string,
    { tag, words, parameters }: { tag: string; words: string; parameters?: JsonObject[] },
  ): JsonObject {
    const { errors = [], ...said } = operationWords[words] ?? {}
    return {
      operationId,
      tags: [tag],
      ...said,
      security,
      ...(parameters && { parameters }),
      responses: {
        200: { description: 'Done.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
        ...errorResponses([...ALWAYS, ...errors], 'Error', convert(managementError)),
      },
    }
  }
}

const ifMatch = () => parameter('header', 'If-Match', queryWords['If-Match'], { type: 'string' })

const FORMAT = { type: 'string', enum: ['json', 'csv', 'jsonl'] }

/** The content types that can be requested in place of JSON. */
const EXPORTS = {
  'text/csv': { schema: { type: 'string' } },
  'application/jsonl': { schema: { type: 'string' } },
}

/** The statuses of errors: of every operation, of operations with a body, and of operations with a parameter in the path. */
const ALWAYS = [400, 401, 403, 500, 503]
const WITH_BODY = [408, 413, 415]
const WITH_PARAMETER = [404]

/** The summary and description of a route; for several actions the description lists them. */
function wordsOf(route: ManagementRoute) {
  const [row] = route
  const shared = row.action === undefined ? row.names : row.names.slice(0, -1)
  const words = present(operationWords[shared.join('.')], row)
  if (row.action === undefined) return words
  const actions = route.map(({ action, names }) => {
    const { summary, description } = present(operationWords[names.join('.')], row)
    return `- \`${action}\`: ${[summary, description].filter(Boolean).join('. ')}`
  })
  return { ...words, description: actions.join('\n') }
}

/** The id of an operation, such as `keysList`. */
const idOf = (names: readonly string[]): string => names.reduce((id, name) => id + capitalised(name))

/**
 * An id that no other operation has: `keysUpdatePatch` when another method has `keysUpdate`, `healthResetById` when the path without that
 * parameter has `healthReset`.
 */
function freeId([{ method, path, names, action }]: ManagementRoute, taken: Set<string>): string {
  const plain = idOf(action === undefined ? names : [...names.slice(0, -1), 'act'])
  const parameter = /:(\w+)\+?$/.exec(path)?.[1] ?? ''
  const other = method === 'PATCH' ? 'Patch' : `By${capitalised(parameter)}`
  const id = taken.has(plain) ? plain + other : plain
  taken.add(id)
  return id
}

/** The schema of an operation in a table with the structure of `gateway.api`. */
function schemaOf(table: unknown, { names }: Row): v.GenericSchema | undefined {
  const found = names.reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], table)
  return found as v.GenericSchema | undefined // both tables are complete
}

function present<T>(value: T | undefined, { names }: Row): T {
  if (value === undefined) throw new TypeError(`The operation ${names.join('.')} is not described.`)
  return value
}
