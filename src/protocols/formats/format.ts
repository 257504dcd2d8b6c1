import type { JsonObject } from '../../lib/json.ts'
import { getEntry } from '../../lib/maps.ts'
import type { FormFile } from '../../lib/multipart.ts'
import type { SseEvent, StreamFraming } from '../../lib/sse.ts'
import type { Traits } from '../../traits.ts'
import type { AuthStyle, ClientFormat, ProviderFormat, WireFormat } from '../../types.ts'
import type { EmbeddedError } from './canonical/canonical-errors.ts'
import type { CompactionMode } from './canonical/canonical-request.ts'
import type { TokenUsage } from './canonical/canonical-response.ts'
import { type Operation, type OperationName, operations } from './model-operations.ts'
import type { ClientTranslator, Translator, UpstreamTranslator } from './translator.ts'

export type { EmbeddedError } from './canonical/canonical-errors.ts'
export type { TokenUsage } from './canonical/canonical-response.ts'

/** The parts of an error that every format can express. `code` is the gateway's or the provider's code. */
export interface ErrorFacts {
  status: number
  code: string
  message: string
  /** The field of the request that caused the error, if known. */
  param?: string | undefined
  /** The model that the request names in its headers. */
  model?: string | undefined
  /** Seconds until a retry may succeed, if known. */
  retryAfter?: string | undefined
}

/** The position in a stream, for formats whose error events refer to earlier events. */
export interface StreamPosition {
  /** The sequence number of the last event. */
  sequence?: number | undefined
  /** The response that the stream belongs to. */
  response?: JsonObject | undefined
  /** The provider's own error event, if it has been sent to the client. */
  passedError?: SseEvent | undefined
}

/** The progress of a stream. It decides when the stream is committed, how it ends, and what it costs. */
interface StreamProgress {
  /** Whether content of the response has arrived. */
  started: boolean
  /** Set if the stream started with its end, without content. */
  isSilent?: boolean
  /** Whether a finish reason has arrived, after which the stream may end normally. */
  ended: boolean
  /** Whether the format's last event has arrived, after which a connection error no longer matters. */
  closed: boolean
  error: EmbeddedError | undefined
  /** Set if an event may report an error, but the readers of errors aren't loaded yet. */
  isUnread: boolean
  usage: TokenUsage | undefined
  /** Set if `usage` is preliminary, from the beginning of the stream, and the end will report more. */
  hasPreliminaryUsage?: boolean
  position?: StreamPosition
}

/** Tracks a stream through its events. The caller may skip events between the first and the last ones. */
export interface StreamState extends Readonly<StreamProgress> {
  /** The items of the complete response, if clients can refer to them by ID. Known at the end. */
  readonly items?: unknown
  observe(event: SseEvent): void
}

/** Creates the initial progress of a stream. */
export const createStreamProgress = (): StreamProgress => ({
  started: false,
  ended: false,
  closed: false,
  error: undefined,
  isUnread: false,
  usage: undefined,
})

/** Everything that the pipeline knows about a provider's format. */
export interface UpstreamFormat {
  readonly name: ProviderFormat
  /** The header for credentials, unless the provider's definition names another. */
  readonly auth: AuthStyle
  /** Headers for requests, unless the client sets them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** Splits the provider's streams into events. Default: server-sent events. */
  readonly framing?: StreamFraming
  /** Set if providers of the format send streams as a JSON array unless a request asks for events. */
  readonly streamsArrays?: true
  /** Loads the readers for responses of the format's providers, by operation. An operation without a reader isn't supported. */
  loadReaders(): Promise<ResponseReaders>
  loadErrors(): Promise<ErrorReader>
  /** Loads the translation to and from the canonical format. */
  loadTranslator(): Promise<UpstreamTranslator>
}

/** The readers for responses to the operations of a format. */
export type ResponseReaders = Readonly<Partial<Record<OperationName, ResponseReader>>>

/** Creates a stream's state. */
export type StreamWatcher = () => StreamState

/** Reads providers' responses to one operation. */
export interface ResponseReader {
  /** Returns whether the body is a response. An empty response with a finish reason counts as one. */
  isAnswer(response: JsonObject): boolean
  /** Describes what is missing from an object that isn't a response. Default: unspecified. */
  describeMissing?(response: JsonObject): string | undefined
  /** The field under which to read the array, if responses may be arrays. */
  readonly arrayField?: string
  /** The field under which to read the text, if responses may be plain text. Not used if the content type is JSON. */
  readonly textField?: string
  /** The field under which to read binary responses: the bytes of an image or audio in base64, next to their `type`. */
  readonly bytesField?: string
  /** Returns whether this content type means a binary response. If present, all responses are binary, and other content types are errors. */
  isBinary?(contentType: string): boolean
  /** Reads a response without parsing all of it, which is faster. Returns `undefined` if it must be parsed. */
  skim?(text: string): JsonObject | undefined
  /**
   * Returns whether the response is empty: the model ended its turn normally, or without a finish reason, and returned no text, call, reasoning, or
   * refusal. A truncated or filtered response isn't empty, because its finish reason explains it. Absent: a response is never empty.
   */
  isEmpty?(response: JsonObject): boolean
  /** Gets the error in a complete response, if there is one. */
  getError(response: unknown): EmbeddedError | undefined
  /** Gets the usage of a complete response (parsed JSON). A few vendors report it in headers. */
  getUsage(response: unknown, header?: (name: string) => string | undefined): TokenUsage | undefined
  /** Loads what tracks the start, the end, and the usage of a stream. Once a stream has `started`, no other target is tried. */
  loadWatcher(): Promise<StreamWatcher>
  /** Returns whether these bytes are a complete event of a response. May accept other events too. */
  isOwnEvent(event: Uint8Array): boolean
  /** Whether to assemble the response from events if a provider streams without being asked to. */
  readonly assemblesEvents: boolean
  /** The fields with the content of a response, including tool calls. Absent if there is no content. */
  readonly contentFields?: ContentFields
}

/** Names of the fields with content: in complete responses, and in stream events that add content. */
export interface ContentFields {
  readonly whole: readonly string[]
  readonly streamed: readonly string[]
  /** Finds the complete items in an event that repeats the content of earlier deltas. If a server sends no deltas, the items are new. */
  findRepeatedItems?(event: JsonObject): RepeatedItems | undefined
}

/** The items, and whether these are all items of the response, including those of earlier events. */
interface RepeatedItems {
  items: unknown
  isComplete: boolean
}

/** Uses the same fields for complete responses and stream events. */
export const toContentFields = (...names: readonly string[]): ContentFields => ({ whole: names, streamed: names })

/** Loads the reader for a provider format's responses to an operation. Rejects if the format has no such operation. */
export async function loadResponseReader(
  { name, loadReaders }: Pick<UpstreamFormat, 'name' | 'loadReaders'>,
  operation: Operation,
): Promise<ResponseReader> {
  const reader = getEntry<ResponseReader>(await loadReaders(), operation.name)
  if (!reader) throw new TypeError(`The format ${name} has no responses for ${operation.name}.`)
  return reader
}

/** Creates a reader for responses to token-count requests: any JSON object with a number of tokens. */
export const toCountReader = ({ contentFields: _, ...answers }: ResponseReader): ResponseReader => ({
  ...answers,
  isAnswer: (response) =>
    Object.entries(response).some(([name, value]) => typeof value === 'number' && /tokens$/i.test(name)),
  describeMissing: () => 'a number of tokens',
  isEmpty: () => false,
  assemblesEvents: false,
})

/** Creates a reader for responses that are never streamed. */
export const createCompleteResponseReader = (
  reader: Pick<
    ResponseReader,
    | 'isAnswer'
    | 'describeMissing'
    | 'arrayField'
    | 'textField'
    | 'bytesField'
    | 'skim'
    | 'getError'
    | 'getUsage'
    | 'contentFields'
  >,
): ResponseReader => ({
  ...reader,
  loadWatcher: async () => () => ({ ...createStreamProgress(), observe() {} }),
  isOwnEvent: () => false,
  assemblesEvents: false,
})

export interface ErrorReader {
  /** Reads the message and the code of an error body, if the body has them. */
  read(body: unknown): { message?: string; code?: string }
  /** Wraps an error object from a 200 response or a stream in the error body that the provider would have sent with this status. */
  writeBody(error: JsonObject, status: number): JsonObject
  /** Returns whether an error body means that the provider doesn't count tokens for this model or this client at all. */
  cannotCount?(body: unknown): boolean
}

/** Writes errors for a format's clients. */
export interface ErrorFormat {
  /** Returns the body of an error response, as a JSON value. */
  body(error: ErrorFacts): object
  /** Returns complete server-sent events that end a stream with an error. `position` is where the stream broke off. */
  event(error: ErrorFacts, position?: StreamPosition): string
  /** Returns whether the format's clients can read a provider's error body unchanged. */
  isReadable(body: unknown): boolean
  /** Returns whether the format's clients treat this event of a provider's stream as an error. */
  isErrorEvent(event: SseEvent): boolean
  /** Returns whether the format's clients recognize from this error object that the prompt was too long and must be shortened. */
  isOverflowError(error: JsonObject): boolean
}

/** The errors of a format for both clients and providers. */
export interface FormatErrors extends ErrorReader, ErrorFormat {}

/** Identifies requests from the format's clients when the endpoint doesn't. */
interface ClientDetection {
  /** Paths that only these clients request, whether or not the gateway serves them. */
  readonly paths?: RegExp
  /** Headers for paths that several formats share. These clients send at least one of them. */
  readonly headers: readonly string[]
}

/** Filters complete events. */
export type EventFilter = (events: Uint8Array) => Uint8Array

/** Everything that the gateway knows about a client's format. */
export interface Format {
  readonly name: ClientFormat
  readonly endpoints: readonly Endpoint[]
  readonly clientDetection: ClientDetection
  loadErrors(): Promise<FormatErrors>
  /** The header in which clients look for the provider's request ID. */
  readonly requestIdHeader: string
  /** Keeps a silent stream open. Clients ignore it. */
  readonly keepAlive: string
  /** Loads a filter for passed-through streams, which removes events that make clients throw. Absent if there are none. */
  loadEventFilter?(): Promise<() => EventFilter>
  /** Set if responses in the format describe the target, earlier attempts, and the cost (`WriteContext.describe`). */
  readonly describesAttempts?: true
  /** The fields with the content of responses. Formats with providers have them in their readers. */
  readonly contentFields?: ContentFields
  loadTranslator(): Promise<ClientTranslator>
}

/** A format for both clients and providers. */
export interface SharedFormat extends Format, UpstreamFormat {
  readonly name: WireFormat
  loadErrors(): Promise<FormatErrors>
  loadTranslator(): Promise<Translator>
}

/** Loads the names of the content fields in responses to clients. Returns `undefined` if responses have no content. */
export const loadClientContentFields = async (
  format: Format | SharedFormat,
  operation: Operation,
): Promise<ContentFields | undefined> =>
  'loadReaders' in format ? (await loadResponseReader(format, operation)).contentFields : format.contentFields

/** An endpoint for model requests: its path, its format, and the operation that it serves. */
export interface Endpoint {
  /** Relative to the base path. Contains `{model}` if the format has the model's name in the path. */
  path: string
  /** The format of requests, responses, and errors. */
  format: ClientFormat
  operation: Operation
  /** The body fields that may name the model. If several are present, the first one counts. Default: `model`. */
  modelNames?: readonly string[]
  /** The model for requests that only name the provider, such as `tavily` for `tavily/search`. */
  service?: string
  /**
   * How `request/read-request.ts` reads the endpoint's bodies: as JSON, as a form with files (or JSON instead), or as JSON with an audio file in
   * base64.
   */
  bodyType: 'json' | 'form' | 'sound'
  /** The size limit for its body. Default: `maxBodyBytes`. */
  bodyLimit?: 'maxBodyBytes' | 'maxAudioBytes' | 'maxImageBytes'
  /** Gets the size in bytes of base64 files in a JSON body. If present, the limit applies to those files, and the body may be a third larger. */
  getBase64Size?(body: JsonObject, files: readonly FormFile[]): number
  /** When to stream the response: if the body's `stream` is true, always, or never. */
  streams: 'requested' | 'always' | 'never'
  /** The body field and value that request a stream. Default: `stream: true`. */
  streamBy?: { member: string; value: string }
  /** The content types of complete responses. Default: JSON. */
  responseTypes?: readonly string[]
  /** The headers that name the model and request a stream with "true", if they replace body fields. */
  headers?: { readonly model: string; readonly stream?: string; readonly version?: string }
  /** The API version, if the path or a header contains it. */
  version?: string
  /** Returns the path below a provider's base URL, with its query. */
  upstreamPath(model: string): string
  /** Other fields of an error body that contain its message, for clients that look for it there. */
  messageFields?: readonly string[]
  /**
   * Fields that refer to responses stored by a provider. They are rejected, because the gateway doesn't store responses and uses several providers.
   */
  stateful?: readonly string[]
  /** The field that providers reject in a request without a stream. */
  streamMember?: string
  /** Replaces the model in the body and keeps all other characters. Only for requests that name their model in several places. */
  replaceModel?(text: string, model: string): string
  /** Gets the IDs with which a request refers to items of earlier responses. Only if requests can do that. */
  getReferences?(request: { body: JsonObject }): readonly string[]
  /** Returns when to compact the conversation. Only if requests can ask for a compaction. */
  getCompactionMode?(request: JsonObject): CompactionMode | undefined
  /**
   * Returns whether the client's request for a stream neither asks for usage nor opts out, so the gateway may request it. Set only if providers don't
   * report it by default, as with Chat Completions.
   */
  mayRequestUsage?(request: JsonObject): boolean
  /** Set if requests can limit their output (`getOutputLimit` in formats/output-limits.ts). */
  limitsOutput?: true
  /** The maximum usage of a request. Default: that of its operation (`getBound` in kinds/request-bounds.ts). */
  bound?: RequestBound
}

/** The maximum usage of a request, read from its body. Each field has a default. */
export interface RequestBound {
  /** Returns how many responses the request asks for, each with up to `outputLimit` tokens. Default: one. */
  answers?(body: JsonObject): number
  /** Set if responses have no output tokens, such as vectors and numbers. */
  readonly hasNoOutput?: true
  /** Set if requests are billed by tokens or by units, depending on which the model has a price for. Default: by both. */
  readonly isBilledOnce?: true
  /** Returns the maximum input tokens. `estimate` is the estimate for the body, which is the default. */
  inputTokens?(body: JsonObject, estimate: () => number, files?: readonly FormFile[]): number
  /** Returns the maximum output tokens if its requests have no limit for them. Default: the model's maximum. */
  outputTokens?(body: JsonObject, files?: readonly FormFile[]): number
  /** Returns the maximum billable units other than tokens. Default: none. `files` contains the files of a form. */
  units?(body: JsonObject, files?: readonly FormFile[]): NonNullable<TokenUsage['units']>
}

/** The output limit in the requests of an endpoint. */
export interface OutputLimit {
  /** Gets the limit in tokens, or `undefined` if there is none, or it isn't a positive number. */
  get(body: JsonObject): number | undefined
  /** Sets the limit in the text and changes nothing else. `field` is the name that the provider reads, if its format has several. */
  set(request: { text: string; body: JsonObject }, tokens: number, field: Traits['outputLimitField']): string
  /** The clients' name for the limit. */
  readonly name: string
}

/** Creates an endpoint whose path doesn't depend on the model: below `/v1` for clients, below the base URL for providers. */
export const createFixedEndpoint = (
  format: WireFormat,
  path: string,
  {
    operation = operations.generate,
    streams = 'requested',
    ...overrides
  }: Partial<Omit<Endpoint, 'path' | 'format'>> = {},
): Endpoint => ({
  path: `/v1${path}`,
  format,
  operation,
  bodyType: 'json',
  streams,
  upstreamPath: () => path,
  ...overrides,
})
