import { gatewayError } from '../../errors.ts'
import type { Exchange } from '../../lib/exchange.ts'
import { decodeJsonText, escapeJson, type JsonObject, parseJsonObject } from '../../lib/json.ts'
import { replaceSpans, type Span, scanTopLevel } from '../../lib/json-scan.ts'
import type { FormPart } from '../../lib/multipart.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import type { Kind } from '../../types.ts'

/** A client's model request with its parsed body. */
export interface ModelCall {
  endpoint: Endpoint
  model: string
  stream: boolean
  /** The size of the body in bytes. */
  bytes: number
  body: JsonObject
  text: string
  /** The parts of a form. Their fields are also in `body` and `text`. */
  form?: readonly FormPart[]
  /** The positions of the model name in `text`. Empty if the path contains the name. */
  modelSpans: readonly Span[]
}

/** Fields that the path or the headers contain instead of the body. */
export interface RouteFields {
  /** The model name, if the path or a header contains it. */
  model?: string | undefined
  /** Whether to stream, if a header specifies it. */
  stream?: boolean | undefined
}

/** Reads the fields in the path and the headers. */
export const readRouteFields = (
  { headers }: Endpoint,
  pathModel: string | undefined,
  header: (name: string) => string | undefined,
): RouteFields =>
  headers
    ? { model: header(headers.model), stream: (headers.stream && header(headers.stream) === 'true') || undefined }
    : { model: pathModel }

/** Parses a model request's body. Throws `INVALID_JSON` or `INVALID_REQUEST`. */
export function parseModelCall(bytes: Uint8Array, endpoint: Endpoint, routeFields: RouteFields): ModelCall {
  const { model: pathModel, stream } = routeFields
  const text = decodeJsonText(bytes)
  const { modelFields = MODEL_FIELDS } = endpoint
  const { spans, depth } = scanTopLevel(text, pathModel === undefined ? MODEL_FIELDS : NO_FIELDS)
  const body = parseJsonObject(text, depth)
  const model = readModelName(
    pathModel ?? body[modelFields.find((name) => typeof body[name] === 'string') ?? 'model'],
    endpoint,
  )
  rejectStatefulFields(body, endpoint)
  return {
    endpoint,
    model,
    stream:
      endpoint.streams === 'always' ||
      (endpoint.streams === 'requested' && (stream ?? isStreamRequested(body, endpoint))),
    bytes: bytes.length,
    body,
    text,
    modelSpans: spans,
  }
}

/** Returns whether the body requests a stream. */
export const isStreamRequested = (body: JsonObject, { streamTrigger }: Endpoint): boolean =>
  streamTrigger ? body[streamTrigger.field] === streamTrigger.value : body.stream === true

/** Returns a request's model name. Throws `INVALID_REQUEST` if it is missing or can't be a name. */
export function readModelName(
  model: unknown,
  { headers, operation: { kind } }: Pick<Endpoint, 'headers' | 'operation'>,
): string {
  if (Array.isArray(model))
    throw gatewayError('INVALID_REQUEST', { message: '"model" appears more than once. Send it once.' })
  if (typeof model !== 'string' || model.trim() === '') {
    const fieldLabel = headers ? `The header "${headers.model}"` : '"model"'
    const { list: listPath, example } = BODY_HINTS[kind]
    throw gatewayError('INVALID_REQUEST', {
      message: `${fieldLabel} is required. Send the name of a model${listPath === undefined ? '' : ` from GET ${listPath}`}, such as "${example}", an alias, or a combo.`,
    })
  }
  if (model.length > MAX_MODEL_NAME_LENGTH)
    throw gatewayError('INVALID_REQUEST', { message: `"model" is longer than ${MAX_MODEL_NAME_LENGTH} characters.` })
  if (/\p{Cs}/u.test(model))
    throw gatewayError('INVALID_REQUEST', {
      message: '"model" contains an unpaired surrogate, which is not valid Unicode.',
    })
  return model
}

/** The endpoint that lists a kind's models, and an example model. */
const BODY_HINTS: Readonly<Record<Kind, { list?: string; example: string }>> = {
  llm: { list: '/v1/models', example: 'openai/gpt-4o' },
  image: { list: '/v1/models/image', example: 'openai/gpt-image-2' },
  tts: { list: '/v1/models/tts', example: 'openai/gpt-4o-mini-tts' },
  stt: { list: '/v1/models/stt', example: 'openai/gpt-4o-transcribe' },
  embedding: { list: '/v1/models/embedding', example: 'openai/text-embedding-3-small' },
  imageToText: { list: '/v1/models/image-to-text', example: 'mistral/mistral-ocr-latest' },
  webSearch: { list: '/v1/models/web', example: 'tavily/search' },
  webFetch: { list: '/v1/models/web', example: 'jina/fetch' },
  rerank: { example: 'cohere/rerank-v3.5' },
  moderation: { example: 'openai/omni-moderation-latest' },
}

/** The fields to find in the body, depending on whether it contains the model name. */
const MODEL_FIELDS = ['model']
const NO_FIELDS: readonly string[] = []

/** Replaces the model name in the client's body without changing anything else. */
export function replaceModelName(model: string, { text, modelSpans }: Pick<ModelCall, 'text' | 'modelSpans'>): string {
  return modelSpans.length === 0 ? text : replaceSpans(text, modelSpans, `"${escapeJson(model)}"`)
}

/**
 * Rejects fields that refer to a provider's stored state. Dropping them would lose the conversation; keeping them would make the response depend on
 * which provider served the previous request.
 */
function rejectStatefulFields(body: JsonObject, { statefulFields }: Endpoint): void {
  if (!statefulFields) return
  for (const param of statefulFields) {
    if (body[param] === undefined || body[param] === null || body[param] === false) continue
    throw gatewayError('INVALID_REQUEST', {
      message: `"${param}" is not supported because this gateway does not store responses. Send the whole conversation as "input", with "store": false and "include": ["reasoning.encrypted_content"], and wait for the response.`,
      data: { param },
    })
  }
}

/**
 * The maximum length of a model name. Names appear in messages, headers, and records. The limit fits a prefix, a slash, and the longest ID that the
 * management API accepts.
 */
const MAX_MODEL_NAME_LENGTH = 1_000

/** Returns whether the client expects a JSON array: the default of Google's streams, unless the client requests events. */
export const shouldSendArray = ({ call, exchange }: { call: ModelCall; exchange: Pick<Exchange, 'query'> }): boolean =>
  call.endpoint.streams === 'always' && !/[?&]alt=sse(&|$)/.test(exchange.query)
