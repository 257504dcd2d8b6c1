import { LIVE_PATH, liveInput } from '../../../features/live/live.ts'
import { LIVE_USAGE_PATH } from '../../../features/live/usage-live.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { acceptsBody, acceptsQuery, type NamedOperation } from '../../operation-table.ts'
import { TRY_PATH, tryInput } from '../try.ts'
import {
  anyOf,
  capitalize,
  createJsonContent,
  createParameter,
  type DocumentBuilder,
  joinNames,
  listPathParameters,
  type Paths,
  toTemplate,
} from './document-parts.ts'
import { nameInput } from './field-words.ts'
import {
  formatDescription,
  ifMatchDescription,
  liveParameterDescriptions,
  routeDescriptions,
} from './operation-words.ts'

/** The operations of a management API route: one, or several with different values of the body field `action`. */
export type ManagementRoute = readonly [NamedOperation, ...NamedOperation[]]

/** Error bodies: the general one, and the one for a change based on an outdated record revision. */
export const managementTypes = {
  Error: '{error: string}',
  ChangedMeanwhile: '{error: string, current?: Record<unknown>}',
}

/** Returns the schema names of these operations' inputs. */
export function nameInputs(operations: readonly NamedOperation[]): Map<object, string> {
  const inputNames = new Map<object, string>()
  for (const operation of operations) {
    const { input, action } = operation
    if (input && action === undefined && !acceptsQuery(operation)) inputNames.set(input, nameInput(operation))
  }
  return inputNames
}

/** Describes the paths under `/api`. `security` lists the required credentials. */
export function describeManagementPaths(
  routes: readonly ManagementRoute[],
  { convertSchema, describeType, describeResult, describeErrors }: DocumentBuilder,
  security: JsonObject[],
): Paths {
  const paths: Paths = {}
  const usedIds = new Set<string>()

  for (const route of routes) {
    const [{ method, path, status = 200, names, exports: exportedField, errors = [] }] = route
    const hasBody = acceptsBody(route[0])
    const pathParameters = listPathParameters(path)
    const parameters = [
      ...pathParameters,
      ...listQueryParameters(route[0]),
      ...(route[0].ifMatch ? [describeIfMatch()] : []),
    ]
    const statuses = [
      ...COMMON_STATUSES,
      ...(hasBody ? BODY_STATUSES : []),
      ...(pathParameters.length > 0 ? PARAMETER_STATUSES : []),
    ]
    const template = toTemplate(path)
    const resultSchemas = route.map(({ output, names }) =>
      output ? convertSchema(output) : describeResult(names.join('.')),
    )
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: {
        operationId: createOperationId(route, usedIds),
        tags: names.slice(0, 1),
        ...describeRoute(route),
        security,
        ...(parameters.length > 0 && { parameters }),
        ...(hasBody && {
          requestBody: {
            required: !route[0].isBodyOptional,
            content: createJsonContent(anyOf(route.map(describeInput))),
          },
        }),
        responses: {
          [status]: {
            description: 'Done.',
            content: { ...createJsonContent(anyOf(resultSchemas)), ...(exportedField && EXPORT_CONTENT) },
          },
          ...describeErrors([...statuses, ...errors], 'Error', describeType('Error')),
          ...(route[0].ifMatch && describeErrors([409], 'Conflict', describeType('ChangedMeanwhile'))),
        },
      },
    }
  }

  function listQueryParameters(operation: NamedOperation): JsonObject[] {
    const { input, parameters = {}, exports: exportedField } = operation
    const { properties } = input && acceptsQuery(operation) ? convertSchema(input) : {}
    const propertySchemas: Array<[string, JsonObject]> = Object.entries(Object(properties))
    return [
      ...propertySchemas.map(([name, schema]) => createParameter('query', name, parameters[name], schema)),
      ...(exportedField ? [createParameter('query', 'format', formatDescription, FORMAT_SCHEMA)] : []),
    ]
  }

  /** Returns the schema of the request body. */
  function describeInput({ input, action, names }: NamedOperation): JsonObject {
    const schema = input ? convertSchema(input) : { type: 'object', additionalProperties: false }
    if (action === undefined) return schema
    const { properties = {}, required = [] } = schema
    return {
      ...schema,
      title: capitalize(joinNames(names)),
      properties: { action: { const: action }, ...Object(properties) },
      required: ['action', ...(Array.isArray(required) ? required : [])],
    }
  }

  /** Describes a route that isn't an operation, because its response can be a stream. */
  function describeStream(
    operationId: keyof typeof routeDescriptions,
    details: JsonObject,
    content?: JsonObject,
  ): JsonObject {
    const { errors = [], ...description } = routeDescriptions[operationId]
    return {
      operationId,
      tags: [operationId],
      ...description,
      security,
      ...details,
      responses: {
        200: {
          description: content ? 'The response to the request.' : 'Done.',
          content: { ...content, 'text/event-stream': { schema: { type: 'string' } } },
        },
        ...describeErrors([...COMMON_STATUSES, ...errors], 'Error', describeType('Error')),
      },
    }
  }

  const livePropertySchemas: Array<[string, JsonObject]> = Object.entries(Object(convertSchema(liveInput).properties))
  const liveParameters = [
    ...livePropertySchemas.map(([name, schema]) =>
      createParameter('query', name, liveParameterDescriptions[name], schema),
    ),
    createParameter('header', LAST_EVENT_HEADER, liveParameterDescriptions[LAST_EVENT_HEADER]),
  ]
  const tryBody = { required: true, content: createJsonContent(convertSchema(tryInput)) }
  return {
    ...paths,
    [LIVE_PATH]: { get: describeStream('live', { parameters: liveParameters }) },
    [LIVE_USAGE_PATH]: { get: describeStream('usageLive', { tags: ['usage'] }) },
    [TRY_PATH]: { post: describeStream('try', { requestBody: tryBody }, createJsonContent({})) },
  }
}

const LAST_EVENT_HEADER = 'last-event-id'

const describeIfMatch = () => createParameter('header', 'If-Match', ifMatchDescription)

const FORMAT_SCHEMA = { type: 'string', enum: ['json', 'csv', 'jsonl'] }

/** The content types that can be requested instead of JSON. */
const EXPORT_CONTENT = {
  'text/csv': { schema: { type: 'string' } },
  'application/jsonl': { schema: { type: 'string' } },
}

/** Error statuses of every operation. Operations with a body or a path parameter add their own. */
const COMMON_STATUSES = [400, 401, 403, 500, 503]
const BODY_STATUSES = [408, 413, 415]
const PARAMETER_STATUSES = [404]

/** Returns a route's summary and description; if the route has several actions, the description lists them. */
function describeRoute(route: ManagementRoute) {
  const [{ action, routeSummary, summary, description }] = route
  if (action === undefined) return { summary, ...(description !== undefined && { description }) }
  const actions = route.map(
    (operation) =>
      `- \`${operation.action}\`: ${[operation.summary, operation.description].filter(Boolean).join('. ')}`,
  )
  return { summary: routeSummary ?? summary, description: actions.join('\n') }
}

/**
 * Creates a unique id: `keysUpdatePatch` if another method has `keysUpdate`, `healthResetById` if the path without that parameter has `healthReset`.
 */
function createOperationId([{ method, path, names, action }]: ManagementRoute, usedIds: Set<string>): string {
  const baseName = joinNames(action === undefined ? names : [...names.slice(0, -1), 'act'])
  const parameter = /:(\w+)\+?$/.exec(path)?.[1] ?? ''
  const suffix = method === 'PATCH' ? 'Patch' : `By${capitalize(parameter)}`
  const id = usedIds.has(baseName) ? baseName + suffix : baseName
  usedIds.add(id)
  return id
}
