import { gatewayError } from '../errors.ts'
import type { Endpoint } from '../formats/format.ts'
import type { Exchange } from '../lib/exchange.ts'
import { type JsonObject, jsonText, parseJsonObject, quoted } from '../lib/json.ts'
import { replaceSpans, type Span, scanTopLevel } from '../lib/json-scan.ts'
import type { FormPart } from '../lib/multipart.ts'

/** A client's model request, read once. */
export interface ModelCall {
  endpoint: Endpoint
  model: string
  stream: boolean
  /** The size of the body in bytes. */
  bytes: number
  body: JsonObject
  text: string
  /** The parts of a form, whose fields `body` and `text` have as members. */
  form?: readonly FormPart[]
  /** Where the model's name stands in `text`; nowhere, where it stands in the path. */
  modelSpans: readonly Span[]
}

/** What a request says beside its body. */
export interface AskedBeside {
  /** The name of the model, where the path or a header has it; otherwise the body has it. */
  model?: string | undefined
  /** Is the answer to be a stream, where a header says so? Otherwise the body does. */
  stream?: boolean | undefined
}

/** What the path and the headers of a request say. */
export const askedBeside = (
  { headers }: Endpoint,
  pathModel: string | undefined,
  header: (name: string) => string | undefined,
): AskedBeside =>
  headers
    ? { model: header(headers.model), stream: (headers.stream && header(headers.stream) === 'true') || undefined }
    : { model: pathModel }

/** Parses the body of a model request. Throws `INVALID_JSON` or `INVALID_REQUEST`. */
export function parseModelCall(bytes: Uint8Array, endpoint: Endpoint, beside: AskedBeside = {}): ModelCall {
  const { model: pathModel, stream } = beside
  const text = jsonText(bytes)
  const { modelNames = MODEL } = endpoint
  const { spans, depth } = scanTopLevel(text, pathModel === undefined ? MODEL : NONE)
  const body = parseJsonObject(text, depth)
  const model = checkedModel(
    pathModel ?? body[modelNames.find((name) => typeof body[name] === 'string') ?? 'model'],
    endpoint.headers && `The header "${endpoint.headers.model}"`,
  )
  refuseState(body, endpoint)
  return {
    endpoint,
    model,
    stream:
      endpoint.streams === 'always' || (endpoint.streams === 'asked' && (stream ?? asksForStream(body, endpoint))),
    bytes: bytes.length,
    body,
    text,
    modelSpans: spans,
  }
}

/** Does a body ask for a stream? */
export const asksForStream = (body: JsonObject, { streamBy }: Endpoint): boolean =>
  streamBy ? body[streamBy.member] === streamBy.value : body.stream === true

/** The name of the model of a request, which stands at `place`. Throws `INVALID_REQUEST` when there is none that can be one. */
export function checkedModel(model: unknown, place = '"model"'): string {
  if (Array.isArray(model)) throw gatewayError('INVALID_REQUEST', { message: '"model" is given more than once.' })
  if (typeof model !== 'string' || model.trim() === '') {
    throw gatewayError('INVALID_REQUEST', {
      message: `${place} is required: the name of a model from GET /v1/models, such as "openai/gpt-4o", an alias or a combo.`,
    })
  }
  if (model.length > MAX_MODEL_NAME)
    throw gatewayError('INVALID_REQUEST', { message: `"model" is longer than ${MAX_MODEL_NAME} characters.` })
  if (/\p{Cs}/u.test(model))
    throw gatewayError('INVALID_REQUEST', { message: '"model" holds half of a surrogate pair, which is no text.' })
  return model
}

/** The members whose places are looked for, where the name is in the body and where it is in the path. */
const MODEL = ['model']
const NONE: readonly string[] = []

/** The client's body with another model name, all other characters unchanged. */
export function bodyFor(model: string, { text, modelSpans }: Pick<ModelCall, 'text' | 'modelSpans'>): string {
  return modelSpans.length === 0 ? text : replaceSpans(text, modelSpans, quoted(model))
}

/**
 * Refuses fields that refer to state at a provider: without them a conversation would be lost, and with them the answer would depend on
 * where the request before went.
 */
function refuseState(body: JsonObject, { stateful }: Endpoint): void {
  if (!stateful) return
  for (const param of stateful) {
    if (body[param] === undefined || body[param] === null || body[param] === false) continue
    throw gatewayError('INVALID_REQUEST', {
      message: `"${param}" is not supported: nothing is stored here. Send the whole conversation as "input", with "store": false and "include": ["reasoning.encrypted_content"], and wait for the answer.`,
      data: { param },
    })
  }
}

/** Names appear in messages, headers and records. Long enough for a prefix, a slash and the longest id that the management API accepts. */
const MAX_MODEL_NAME = 1_000

/** Does the client want a JSON array? Google's stream is one, unless events are asked for. */
export const wantsArray = ({ call, exchange }: { call: ModelCall; exchange: Pick<Exchange, 'query'> }): boolean =>
  call.endpoint.streams === 'always' && !/[?&]alt=sse(&|$)/.test(exchange.query)
