import type { Endpoint } from '../../formats/format.ts'
import type { OperationName } from '../../formats/operations.ts'
import type { JsonObject } from '../../lib/json.ts'
import { entryOf } from '../../lib/maps.ts'
import type { ClientFormat } from '../../types.ts'
import type { ListingPath } from '../listing-routes.ts'
import { formatSchemas } from './model-schemas.ts'
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

/** The formats as their vendors call them, and where their vendors describe them. */
const vendors: Readonly<Record<ClientFormat, { title: string; reference: string }>> = {
  'openai-chat': { title: 'OpenAI', reference: 'https://platform.openai.com/docs/api-reference/chat' },
  'openai-responses': {
    title: 'OpenAI Responses',
    reference: 'https://platform.openai.com/docs/api-reference/responses',
  },
  'anthropic-messages': { title: 'Anthropic', reference: 'https://docs.claude.com/en/api/messages' },
  gemini: { title: 'Gemini', reference: 'https://ai.google.dev/api/generate-content' },
  'ai-sdk': { title: 'AI SDK', reference: 'https://ai-sdk.dev/providers/ai-sdk-providers/ai-gateway' },
}

const summaries: Readonly<Record<OperationName, string>> = {
  generate: 'Generate an answer',
  'count-tokens': 'Count the tokens of a request',
  compact: 'Compact a conversation',
  complete: 'Complete a text',
}

/** The statuses of errors under `/v1` and `/v1beta`; a provider's own error keeps its status. */
const LISTING_ERRORS = [400, 401, 403, 500, 503]
const CALL_ERRORS = [...LISTING_ERRORS, 404, 408, 413, 415, 429, 502, 504]

/** The credentials of clients. One of them is enough, and none is needed while the setting `requireApiKey` is off. */
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

/** The headers that clients may send with a model request. */
export const clientParameters: Record<string, JsonObject> = {
  timeout: parameter('header', 'x-signalbox-timeout-ms', 'How long the client waits at most, in ms.', {
    type: 'integer',
    minimum: 1,
    maximum: 86_400_000,
  }),
  strict: parameter(
    'header',
    'x-signalbox-strict',
    'Refuses a request that the format of the target cannot carry whole.',
    {
      type: 'string',
      enum: ['true', '1'],
    },
  ),
  models: parameter(
    'header',
    'x-signalbox-models',
    'A combo for this request alone, as JSON, or names with commas between.',
  ),
  session: parameter('header', 'x-signalbox-session', 'Requests of one session go to the same target where they can.'),
}

/** The headers that the gateway adds to responses. */
export const answerHeaders: Record<string, JsonObject> = Object.fromEntries(
  Object.entries({
    'x-signalbox-request-id': 'The id of the request in records; errors have it, too.',
    'x-signalbox-target': 'The provider and the model that answered, as a request can name them again.',
    'x-signalbox-attempts': 'What was tried, in order, each with its status.',
    'x-signalbox-warning': 'The parts of the request that were lost or changed.',
  }).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
)

/** The endpoints and listings that are served under `/v1` and `/v1beta`. */
export interface ModelSurface {
  endpoints: readonly Endpoint[]
  listingPaths: readonly ListingPath[]
  /** The formats of all clients that may call a path, the default first. */
  callerFormatsOf(path: string): ClientFormat[]
}

/** The paths under `/v1` and `/v1beta`: each endpoint of the formats, and each path of the listing. */
export function modelPaths({ endpoints, listingPaths, callerFormatsOf }: ModelSurface, builder: Builder): Paths {
  const paths: Paths = {}
  const add = (path: string, method: string, operation: JsonObject) => {
    paths[path] = { ...paths[path], [method]: operation }
  }

  for (const { path, kinds, isPublic } of listingPaths) {
    const callers = distinct(callerFormatsOf(path))
    const id = `${idOf(path.replace(/\/:.*/, ''))}${kinds ? 'List' : 'Get'}`
    const shared = { tags: ['models'], security: clientSecurity }
    const query = kinds ? callers.flatMap(pagingOf) : []
    const parameters = [...pathParameters(path), ...query]
    add(templateOf(path), 'get', {
      operationId: id,
      summary: kinds ? `List the models of kind ${kinds.join(' and ')}` : 'Get a model',
      ...(callers.length > 1 && { description: BY_HEADERS }),
      ...shared,
      ...(parameters.length > 0 && { parameters }),
      responses: {
        200: {
          description: kinds ? 'The models.' : 'The model.',
          content: jsonContent(
            anyOf(callers.map((caller) => builder.convert(formatSchemas[caller][kinds ? 'list' : 'model'][1]))),
          ),
        },
        ...errorsOf(callers, kinds ? LISTING_ERRORS : [...LISTING_ERRORS, 404], builder),
      },
    })
    if (isPublic)
      add(templateOf(path), 'options', {
        operationId: `${id}Options`,
        summary: 'Answer a CORS preflight request',
        ...shared,
        security: [],
        responses: { 204: { description: 'The headers of CORS.' } },
      })
  }

  for (const endpoint of endpoints) add(endpoint.path, 'post', callOf(endpoint, builder))
  return paths
}

/** The description of an endpoint for model requests. */
function callOf(endpoint: Endpoint, builder: Builder): JsonObject {
  const { path, format, operation, reads, streams, streamBy, answerTypes, words, headers, stateful = [] } = endpoint
  const { title, reference } = words ? { title: words.vendor, reference: words.reference } : vendors[format]
  const summary = words?.summary ?? entryOf(summaries, operation.name) ?? operation.name
  const inPath = path.includes('{model}')
  const isInBody = !inPath && !headers
  const whole = answerTypes ? contentOf(answerTypes) : jsonContent(OPEN_OBJECT)
  const stream = {
    'text/event-stream': { schema: { type: 'string', description: 'Server-sent events of the format.' } },
  }
  const body = {
    ...OPEN_OBJECT,
    properties: {
      ...(isInBody && { model: { type: 'string', description: MODEL } }),
      ...(streams === 'asked' &&
        !headers && {
          ...(streamBy
            ? {
                [streamBy.member]: {
                  type: 'string',
                  description: `With \`${streamBy.value}\` the answer is a stream of events.`,
                },
              }
            : { stream: { type: ['boolean', 'null'], description: 'Is the answer a stream of events?' } }),
        }),
      ...Object.fromEntries(stateful.map((name) => [name, { description: 'Refused: the gateway stores no answers.' }])),
    },
    ...(isInBody && { required: ['model'] }),
  }
  return {
    operationId: idOf(path.replace(/\/\{model\}$/, '/by-name').replace('{model}', '')),
    tags: ['inference'],
    summary: `${summary}${streams === 'always' ? ' as a stream' : ''} (${title})`,
    description:
      inPath && format === 'gemini' ? `${BODIES} Before a name with a slash, \`models/\` may be left out.` : BODIES,
    externalDocs: { url: reference },
    security: clientSecurity,
    parameters: [
      ...(inPath ? [parameter('path', 'model', `${MODEL} May hold slashes, percent-encoded or not.`)] : []),
      ...(headers ? headerParameters(headers) : []),
      ...(streams === 'always'
        ? [parameter('query', 'alt', 'With `sse` the stream is one of events, otherwise a JSON array.')]
        : []),
      ...Object.keys(clientParameters).map((name) => ({ $ref: `#/components/parameters/${name}` })),
    ],
    requestBody: {
      required: true,
      content: { ...(reads === 'form' && { 'multipart/form-data': { schema: body } }), ...jsonContent(body) },
    },
    responses: {
      200: {
        description: 'The answer.',
        headers: Object.fromEntries(
          Object.keys(answerHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
        ),
        content:
          streams === 'always'
            ? { ...stream, ...jsonContent({ type: 'array', items: OPEN_OBJECT }) }
            : { ...whole, ...(streams === 'asked' && stream) },
      },
      ...errorsOf([format], CALL_ERRORS, builder),
      default: {
        description: 'The error of the provider.',
        content: jsonContent(builder.convert(formatSchemas[format].error[1])),
      },
    },
  }
}

/** The headers by which clients say what others say in their bodies. */
const headerParameters = ({ model, stream }: NonNullable<Endpoint['headers']>): JsonObject[] => [
  parameter('header', model, `${MODEL} Without it, the member \`model\` of the body is read.`),
  ...(stream === undefined
    ? []
    : [parameter('header', stream, 'Is the answer a stream of events? `true` or `false`.')]),
]

/** Answers of these types, of which only JSON has a schema. */
const contentOf = (types: readonly string[]): JsonObject =>
  Object.fromEntries(types.map((type) => [type, type === 'application/json' ? { schema: OPEN_OBJECT } : {}]))

const BY_HEADERS =
  'The format of the answer depends on the headers of the request: with `anthropic-version` that of Anthropic, by default that of OpenAI.'

const OPEN_OBJECT: JsonObject = { type: 'object', additionalProperties: true }

const BODIES = 'Bodies are in the format of the vendor; members that the gateway does not know are passed on.'

const MODEL = 'The name of a model in the listing, of an alias or of a combo.'

/** The formats, without those that have the same schemas as one before. */
const distinct = (names: readonly ClientFormat[]): ClientFormat[] => [
  ...new Map(names.map((name) => [formatSchemas[name], name])).values(),
]

const pagingOf = (format: ClientFormat): JsonObject[] =>
  Object.entries(formatSchemas[format].paging).map(([name, { description, isNumber }]) =>
    parameter('query', name, description, { type: isNumber ? 'integer' : 'string' }),
  )

/** The errors as the clients of these formats read them. */
function errorsOf(
  callers: readonly ClientFormat[],
  statuses: readonly number[],
  { convert, errors }: Builder,
): JsonObject {
  const [first, ...others] = callers.map((caller) => formatSchemas[caller].error)
  const name = first && others.length === 0 ? first[0] : 'ListingError'
  return errors(statuses, name, anyOf(callers.map((caller) => convert(formatSchemas[caller].error[1]))))
}

/** The operation id of a path: `chatCompletions` for `/v1/chat/completions`, `betaModelsGenerateContent` for `/v1beta/models/:generateContent`. */
function idOf(path: string): string {
  const words = path
    .replace('/v1beta/', '/beta/')
    .replace('/v1/', '/')
    .split(/[^A-Za-z\d]+/)
    .filter(Boolean)
  return words.map((word, at) => (at === 0 ? word : capitalised(word))).join('')
}
