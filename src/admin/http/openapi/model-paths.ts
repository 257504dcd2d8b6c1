import type { BuiltInFeature, FeatureRoute } from '../../../feature.ts'
import { type AccountReaders, accountPaths } from '../../../features/limits/account-routes.ts'
import { listingPaths } from '../../../features/listing/listing-routes.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { getEntry } from '../../../lib/maps.ts'
import type { Endpoint } from '../../../protocols/formats/format.ts'
import type { OperationName } from '../../../protocols/formats/model-operations.ts'
import { endpoints } from '../../../protocols/kinds/kinds.ts'
import { listCallerFormats } from '../../../request/door/caller-format.ts'
import type { ClientFormat } from '../../../types.ts'
import {
  anyOf,
  capitalize,
  createJsonContent,
  createParameter,
  type DocumentBuilder,
  listPathParameters,
  type Paths,
  toTemplate,
} from './document-parts.ts'
import { findEndpointDocs } from './endpoint-docs.ts'
import { formatTypes } from './model-types.ts'

/** The vendors' names for the formats, and links to their documentation. */
const vendorsByFormat: Readonly<Record<ClientFormat, { title: string; reference: string }>> = {
  'openai-chat': { title: 'OpenAI', reference: 'https://platform.openai.com/docs/api-reference/chat' },
  'openai-responses': {
    title: 'OpenAI Responses',
    reference: 'https://platform.openai.com/docs/api-reference/responses',
  },
  'anthropic-messages': { title: 'Anthropic', reference: 'https://docs.claude.com/en/api/messages' },
  gemini: { title: 'Gemini', reference: 'https://ai.google.dev/api/generate-content' },
  'ai-sdk': { title: 'AI SDK', reference: 'https://ai-sdk.dev/providers/ai-sdk-providers/ai-gateway' },
}

const summariesByOperation: Readonly<Record<OperationName, string>> = {
  generate: 'Generate a response',
  'count-tokens': 'Count the tokens of a request',
  compact: 'Compact a conversation',
  complete: 'Complete a prompt',
}

/** The paths where callers read their own limits, with each path's summary and response type. */
const accountDocs: Readonly<Record<keyof AccountReaders, { summary: string; type: string }>> = {
  account: {
    summary: "Get the caller's account, key, and limits, with used and remaining amounts and reset times",
    type: 'Account',
  },
  openRouterKey: { summary: "Get the caller's key and its dollar limit (OpenRouter)", type: 'OpenRouterKey' },
  openRouterCredits: { summary: "Get the caller's dollar limit and spending (OpenRouter)", type: 'OpenRouterCredits' },
}

/** Error statuses under `/v1` and `/v1beta`. A provider's error keeps its own status. */
const LISTING_ERRORS = [400, 401, 403, 500, 503]
const ROUTE_ERRORS = [...LISTING_ERRORS, 408, 413, 415, 429]
const CALL_ERRORS = [...ROUTE_ERRORS, 404, 502, 504]

/** Client credentials, any of which is enough. None is needed while the `requireApiKey` setting is off. */
const clientSecurity: JsonObject[] = [
  { apiKey: [] },
  { apiKeyInXApiKey: [] },
  { apiKeyInXGoogApiKey: [] },
  { apiKeyInApiKey: [] },
  {},
]

export const clientSecuritySchemes: Record<string, JsonObject> = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the gateway.' },
  apiKeyInXApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  apiKeyInXGoogApiKey: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
  apiKeyInApiKey: { type: 'apiKey', in: 'header', name: 'api-key' },
}

/** The headers that clients can send with a model request. */
export const clientParameters: Record<string, JsonObject> = {
  timeout: createParameter('header', 'x-signalbox-timeout-ms', "The client's timeout in ms.", {
    type: 'integer',
    minimum: 1,
    maximum: 86_400_000,
  }),
  strict: createParameter(
    'header',
    'x-signalbox-strict',
    "Reject the request if the target's format can't represent all of it.",
    {
      type: 'string',
      enum: ['true', '1'],
    },
  ),
  models: createParameter(
    'header',
    'x-signalbox-models',
    'An ad-hoc combo for this request: JSON or comma-separated names.',
  ),
  require: createParameter(
    'header',
    'x-signalbox-require',
    'Tags that connections must have, such as `zdr, region=eu`.',
  ),
  session: createParameter(
    'header',
    'x-signalbox-session',
    'Requests of one session go to the same target if possible.',
  ),
}

/** The headers that the gateway adds to responses. */
export const responseHeaders: Record<string, JsonObject> = Object.fromEntries(
  Object.entries({
    'x-signalbox-request-id': 'The request ID, also on errors.',
    'x-signalbox-target': 'The provider and model that responded, usable as a model name.',
    'x-signalbox-attempts': 'The attempts in order, each with its status.',
    'x-signalbox-warning': 'The parts of the request that were dropped or changed.',
  }).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
)

/** Describes the paths under `/v1` and `/v1beta`: the format endpoints, the listing paths, and the feature routes. */
export function describeModelPaths(features: readonly BuiltInFeature[], builder: DocumentBuilder): Paths {
  const paths: Paths = {}
  const addOperation = (path: string, method: string, operation: JsonObject) => {
    paths[path] = { ...paths[path], [method]: operation }
  }

  for (const { path, kinds, isPublic } of listingPaths) {
    const callerFormats = removeDuplicates(listCallerFormats(path))
    const id = `${createId(path.replace(/\/:.*/, ''))}${kinds ? 'List' : 'Get'}`
    const commonFields = { tags: ['models'], security: clientSecurity }
    const queryParameters = kinds ? callerFormats.flatMap(listPagingParameters) : []
    const parameters = [...listPathParameters(path), ...queryParameters]
    addOperation(toTemplate(path), 'get', {
      operationId: id,
      summary: kinds ? `List the models of kind ${kinds.join(' and ')}` : 'Get a model',
      ...(callerFormats.length > 1 && { description: BY_HEADERS }),
      ...commonFields,
      ...(parameters.length > 0 && { parameters }),
      responses: {
        200: {
          description: kinds ? 'The models.' : 'The model.',
          content: createJsonContent(
            anyOf(callerFormats.map((caller) => builder.describeType(formatTypes[caller][kinds ? 'list' : 'model']))),
          ),
        },
        ...describeErrorResponses(callerFormats, kinds ? LISTING_ERRORS : [...LISTING_ERRORS, 404], builder),
      },
    })
    if (isPublic)
      addOperation(toTemplate(path), 'options', {
        operationId: `${id}Options`,
        summary: 'Handle a CORS preflight request',
        ...commonFields,
        security: [],
        responses: { 204: { description: 'The CORS headers.' } },
      })
  }

  for (const [path, reader] of Object.entries(accountPaths)) {
    const { summary, type } = accountDocs[reader]
    addOperation(path, 'get', {
      operationId: createId(path),
      tags: ['account'],
      summary,
      security: clientSecurity,
      responses: {
        200: { description: "The caller's account.", content: createJsonContent(builder.describeResult(type)) },
        ...describeErrorResponses(removeDuplicates(listCallerFormats(path)), LISTING_ERRORS, builder),
      },
    })
  }
  for (const endpoint of endpoints) addOperation(endpoint.path, 'post', describeEndpoint(endpoint, builder))
  for (const feature of features)
    for (const route of listDescribedRoutes(feature)) {
      const path = toTemplate(route.path)
      const method = route.method.toLowerCase()
      if (!paths[path]?.[method]) addOperation(path, method, describeFeatureRoute(route, feature.name, builder))
    }
  return paths
}

/** Lists the routes that a feature adds, both in its own areas and next to the model endpoints. */
const listDescribedRoutes = ({ areas = [], routes = [] }: BuiltInFeature): FeatureRoute[] => [
  ...areas.flatMap((area) => ('routes' in area ? area.routes : [])),
  ...routes,
]

function describeFeatureRoute(
  { method, path, summary = path, isRecorded }: FeatureRoute,
  tag: string,
  builder: DocumentBuilder,
) {
  const statuses = isRecorded === false ? LISTING_ERRORS : ROUTE_ERRORS
  return {
    operationId: createId(method.toLowerCase() + path.replace('/v1', '/V1')), // a feature may have both /notes and /v1/notes
    tags: [tag],
    summary,
    security: method === 'OPTIONS' ? [] : clientSecurity,
    parameters: listPathParameters(path),
    responses: {
      200: { description: 'The response.' },
      ...describeErrorResponses(removeDuplicates(listCallerFormats(path)), statuses, builder),
    },
  }
}

/** Describes an endpoint for model requests. */
function describeEndpoint(endpoint: Endpoint, builder: DocumentBuilder): JsonObject {
  const {
    path,
    format,
    operation,
    bodyType,
    streams,
    streamTrigger,
    responseTypes,
    headers,
    statefulFields = [],
  } = endpoint
  const docs = findEndpointDocs(path)
  const { title, reference } = docs ? { title: docs.vendor, reference: docs.reference } : vendorsByFormat[format]
  const summary = docs?.summary ?? getEntry(summariesByOperation, operation.name) ?? operation.name
  const isModelInPath = path.includes('{model}')
  const isModelInBody = !isModelInPath && !headers
  const responseContent = responseTypes ? describeContent(responseTypes) : createJsonContent(OPEN_OBJECT_SCHEMA)
  const stream = {
    'text/event-stream': { schema: { type: 'string', description: 'Server-sent events in this format.' } },
  }
  const body = {
    ...OPEN_OBJECT_SCHEMA,
    properties: {
      ...(isModelInBody && { model: { type: 'string', description: MODEL_DESCRIPTION } }),
      ...(streams === 'requested' &&
        !headers && {
          ...(streamTrigger
            ? {
                [streamTrigger.field]: {
                  type: 'string',
                  description: `With \`${streamTrigger.value}\`, the response is an event stream.`,
                },
              }
            : { stream: { type: ['boolean', 'null'], description: 'Whether to stream the response as events.' } }),
        }),
      ...Object.fromEntries(
        statefulFields.map((name) => [
          name,
          { description: 'Rejected, because the gateway does not store responses.' },
        ]),
      ),
    },
    ...(isModelInBody && { required: ['model'] }),
  }
  return {
    operationId: createId(path.replace(/\/\{model\}$/, '/by-name').replace('{model}', '')),
    tags: ['inference'],
    summary: `${summary}${streams === 'always' ? ' as a stream' : ''} (${title})`,
    description:
      isModelInPath && format === 'gemini'
        ? `${BODIES_DESCRIPTION} Names with a slash don't need \`models/\`.`
        : BODIES_DESCRIPTION,
    externalDocs: { url: reference },
    security: clientSecurity,
    parameters: [
      ...(isModelInPath
        ? [createParameter('path', 'model', `${MODEL_DESCRIPTION} Can contain slashes, percent-encoded or not.`)]
        : []),
      ...(headers ? listHeaderParameters(headers) : []),
      ...(streams === 'always'
        ? [createParameter('query', 'alt', 'With `sse`, the stream consists of events; otherwise, it is a JSON array.')]
        : []),
      ...Object.keys(clientParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    requestBody: {
      required: true,
      content: { ...(bodyType === 'form' && { 'multipart/form-data': { schema: body } }), ...createJsonContent(body) },
    },
    responses: {
      200: {
        description: 'The response.',
        headers: Object.fromEntries(
          Object.keys(responseHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
        ),
        content:
          streams === 'always'
            ? { ...stream, ...createJsonContent({ type: 'array', items: OPEN_OBJECT_SCHEMA }) }
            : { ...responseContent, ...(streams === 'requested' && stream) },
      },
      ...describeErrorResponses([format], CALL_ERRORS, builder),
      default: {
        description: "The provider's error.",
        content: createJsonContent(builder.describeType(formatTypes[format].error)),
      },
    },
  }
}

/** Returns the parameters for headers that replace body fields. */
const listHeaderParameters = ({ model, stream }: NonNullable<Endpoint['headers']>): JsonObject[] => [
  createParameter('header', model, `${MODEL_DESCRIPTION} Default: the body's \`model\`.`),
  ...(stream === undefined
    ? []
    : [createParameter('header', stream, 'Whether to stream the response as events. `true` or `false`.')]),
]

/** Describes responses of these types. Only JSON has a schema. */
const describeContent = (types: readonly string[]): JsonObject =>
  Object.fromEntries(types.map((type) => [type, type === 'application/json' ? { schema: OPEN_OBJECT_SCHEMA } : {}]))

const BY_HEADERS = "With the header `anthropic-version`, the response is in Anthropic's format, otherwise in OpenAI's."

const OPEN_OBJECT_SCHEMA: JsonObject = { type: 'object', additionalProperties: true }

const BODIES_DESCRIPTION = "Bodies are in the vendor's format; unknown fields are passed through."

const MODEL_DESCRIPTION = 'A listed model, an alias, or a combo.'

/** Omits formats with the same schemas as an earlier format. */
const removeDuplicates = (names: readonly ClientFormat[]): ClientFormat[] => [
  ...new Map(names.map((name) => [formatTypes[name], name])).values(),
]

const listPagingParameters = (format: ClientFormat): JsonObject[] =>
  Object.entries(formatTypes[format].paging).map(([name, { description, isNumber }]) =>
    createParameter('query', name, description, { type: isNumber ? 'integer' : 'string' }),
  )

/** Describes the errors as clients of these formats receive them. */
function describeErrorResponses(
  callers: readonly ClientFormat[],
  statuses: readonly number[],
  { describeType, describeErrors }: DocumentBuilder,
): JsonObject {
  const [name = '', ...otherNames] = callers.map((caller) => formatTypes[caller].error)
  return describeErrors(
    statuses,
    otherNames.length === 0 ? name : 'ListingError',
    anyOf([name, ...otherNames].map(describeType)),
  )
}

/** Returns a path's operation ID: `chatCompletions` for `/v1/chat/completions`, `betaModelsGenerateContent` for `/v1beta/models/:generateContent`. */
function createId(path: string): string {
  const words = path
    .replace('/v1beta/', '/beta/')
    .replace('/v1/', '/')
    .split(/[^A-Za-z\d]+/)
    .filter(Boolean)
  return words.map((word, index) => (index === 0 ? word : capitalize(word))).join('')
}
