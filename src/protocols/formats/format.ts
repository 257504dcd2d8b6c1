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

/** The error details that every format can express. `code` is the gateway's or the provider's code. */
export interface ErrorDetails {
  status: number
  code: string
  message: string
  /** The request field that caused the error, if known. */
  param?: string | undefined
  /** The model in the request headers. */
  model?: string | undefined
  /** Seconds until a retry may succeed, if known. */
  retryAfterSeconds?: string | undefined
}

/** The position in a stream, for formats with error events that refer to earlier events. */
export interface StreamPosition {
  /** The sequence number of the last event. */
  sequenceNumber?: number | undefined
  /** The response that the stream belongs to. */
  response?: JsonObject | undefined
  /** The provider's own error event, if it has been sent to the client. */
  forwardedError?: SseEvent | undefined
}

/** A stream's progress. It determines when the stream is committed, how it ends, and what it costs. */
interface StreamProgress {
  /** Whether response content has arrived. */
  hasStarted: boolean
  /** Set if the stream started with a finish reason and no content has arrived. */
  isSilent?: boolean
  /** Whether a finish reason has arrived. After that, the stream may end normally. */
  hasEnded: boolean
  /** Whether the format's last event has arrived. After that, a connection error no longer matters. */
  isClosed: boolean
  error: EmbeddedError | undefined
  /** Set if an event may report an error, but the error readers aren't loaded yet. */
  isUnread: boolean
  usage: TokenUsage | undefined
  /** Set if `usage` is preliminary, from the beginning of the stream, and the end will report more. */
  hasPreliminaryUsage?: boolean
  position?: StreamPosition
}

/** Tracks a stream by observing its events. The caller may skip events between the first and the last ones. */
export interface StreamState extends Readonly<StreamProgress> {
  /** The items of the complete response, if clients can refer to them by ID. Known at the end. */
  readonly items?: unknown
  observe(event: SseEvent): void
}

/** Creates a stream's initial progress. */
export const createStreamProgress = (): StreamProgress => ({
  hasStarted: false,
  hasEnded: false,
  isClosed: false,
  error: undefined,
  isUnread: false,
  usage: undefined,
})

/** Everything that the pipeline knows about a provider's format. */
export interface UpstreamFormat {
  readonly name: ProviderFormat
  /** The header for credentials, unless the provider's definition sets another one. */
  readonly auth: AuthStyle
  /** Request headers, unless the client sets them. */
  readonly defaultHeaders: Readonly<Record<string, string>>
  /** Splits the provider's streams into events. Default: server-sent events. */
  readonly framing?: StreamFraming
  /** Set if the format's providers stream as a JSON array unless a request asks for events. */
  readonly streamsArrays?: true
  /** Loads the readers for the providers' responses, by operation. An operation without a reader isn't supported. */
  loadReaders(): Promise<ResponseReaders>
  loadErrors(): Promise<ErrorReader>
  /** Loads the translator to and from the canonical format. */
  loadTranslator(): Promise<UpstreamTranslator>
}

/** The readers for responses to a format's operations. */
export type ResponseReaders = Readonly<Partial<Record<OperationName, ResponseReader>>>

/** Creates a stream's state. */
export type StreamStateFactory = () => StreamState

/** Reads providers' responses to one operation. */
export interface ResponseReader {
  /** Returns whether the body is a response. An empty response that contains a finish reason counts as one. */
  isResponse(response: JsonObject): boolean
  /** Describes what an object that isn't a response is missing. Default: unspecified. */
  describeMissing?(response: JsonObject): string | undefined
  /** The field in which to wrap a response that is an array. */
  readonly arrayField?: string
  /** The field in which to wrap a response that is plain text. Not used if the content type is JSON. */
  readonly textField?: string
  /** The field in which to wrap a binary response (image or audio), as base64. Its media type goes in `type`. */
  readonly bytesField?: string
  /** Returns whether this content type indicates a binary response. If present, all responses are binary, and other content types are errors. */
  isBinary?(contentType: string): boolean
  /** Reads a response without parsing all of it, which is faster. Returns `undefined` if it must be parsed. */
  skim?(text: string): JsonObject | undefined
  /**
   * Returns whether the response is empty: the model ended its turn normally, or without a finish reason, and returned no text, call, reasoning, or
   * refusal. A truncated or filtered response isn't empty, because its finish reason explains it. If absent, a response is never empty.
   */
  isEmpty?(response: JsonObject): boolean
  /** Returns the error in a complete response, if there is one. */
  getError(response: unknown): EmbeddedError | undefined
  /** Returns a complete response's usage (parsed JSON). A few vendors report it in headers. */
  getUsage(response: unknown, header?: (name: string) => string | undefined): TokenUsage | undefined
  /** Loads the factory of stream states, which track a stream's start, end, and usage. Once a stream has started, no other target is tried. */
  loadStateFactory(): Promise<StreamStateFactory>
  /** Returns whether these bytes are a complete event from a response. May accept other events too. */
  isResponseEvent(event: Uint8Array): boolean
  /** Whether to assemble the response from events if a provider streams although the request didn't ask for a stream. */
  readonly assemblesEvents: boolean
  /** The fields with a response's content, including tool calls. Absent if there is no content. */
  readonly contentFields?: ContentFields
}

/** Names of the fields with content: in complete responses, and in stream events that add content. */
export interface ContentFields {
  readonly complete: readonly string[]
  readonly streamed: readonly string[]
  /** Finds the complete items in an event that repeats the content of earlier deltas. If a server sends no deltas, the items are new. */
  findRepeatedItems?(event: JsonObject): RepeatedItems | undefined
}

/** The items, and whether these are all of the response's items, including those from earlier events. */
interface RepeatedItems {
  items: unknown
  isComplete: boolean
}

/** Uses the same fields for complete responses and stream events. */
export const toContentFields = (...names: readonly string[]): ContentFields => ({ complete: names, streamed: names })

/** Loads the reader for a provider format's responses to an operation. Rejects if the format has no such operation. */
export async function loadResponseReader(
  { name, loadReaders }: Pick<UpstreamFormat, 'name' | 'loadReaders'>,
  operation: Operation,
): Promise<ResponseReader> {
  const reader = getEntry<ResponseReader>(await loadReaders(), operation.name)
  if (!reader) throw new TypeError(`The format ${name} has no responses for ${operation.name}.`)
  return reader
}

/** Creates a reader for responses to token-count requests: any JSON object with a token count. */
export const toCountReader = ({ contentFields: _, ...readerFields }: ResponseReader): ResponseReader => ({
  ...readerFields,
  isResponse: (response) =>
    Object.entries(response).some(([name, value]) => typeof value === 'number' && /tokens$/i.test(name)),
  describeMissing: () => 'a number of tokens',
  isEmpty: () => false,
  assemblesEvents: false,
})

/** Creates a reader for responses that are never streamed. */
export const createCompleteResponseReader = (
  reader: Pick<
    ResponseReader,
    | 'isResponse'
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
  loadStateFactory: async () => () => ({ ...createStreamProgress(), observe() {} }),
  isResponseEvent: () => false,
  assemblesEvents: false,
})

export interface ErrorReader {
  /** Reads an error body's message and code, if it has them. */
  read(body: unknown): { message?: string; code?: string }
  /** Wraps an error object from a 200 response or a stream in the error body that the provider would have sent with this status. */
  writeBody(error: JsonObject, status: number): JsonObject
  /** Returns whether an error body means that the provider doesn't count tokens for this model or this client at all. */
  rejectsCounting?(body: unknown): boolean
}

/** Writes errors for a format's clients. */
export interface ErrorFormat {
  /** Returns an error response's body, as a JSON value. */
  createBody(error: ErrorDetails): object
  /** Returns complete server-sent events that end a stream with an error. `position` is where the stream was interrupted. */
  createEvent(error: ErrorDetails, position?: StreamPosition): string
  /** Returns whether the format's clients can read a provider's error body unchanged. */
  isReadable(body: unknown): boolean
  /** Returns whether the format's clients treat this event in a provider's stream as an error. */
  isErrorEvent(event: SseEvent): boolean
  /** Returns whether this error object tells the format's clients that the prompt was too long and must be shortened. */
  isOverflowError(error: JsonObject): boolean
}

/** A format's errors, for both clients and providers. */
export interface FormatErrors extends ErrorReader, ErrorFormat {}

/** Identifies requests from the format's clients if the endpoint doesn't. */
interface ClientDetection {
  /** Paths that only these clients request, whether or not the gateway supports them. */
  readonly paths?: RegExp
  /** Headers that distinguish these clients on paths that several formats share. They send at least one of them. */
  readonly headers: readonly string[]
}

/** Filters complete events. */
export type EventFilter = (events: Uint8Array) => Uint8Array

/** Everything that the pipeline knows about a client's format. */
export interface Format {
  readonly name: ClientFormat
  readonly endpoints: readonly Endpoint[]
  readonly clientDetection: ClientDetection
  loadErrors(): Promise<FormatErrors>
  /** The header in which clients look for the provider's request ID. */
  readonly requestIdHeader: string
  /** An event that keeps a silent stream open. Clients ignore it. */
  readonly keepAlive: string
  /** Loads a filter for passed-through streams, which removes events that make clients throw. Absent if the format has no such events. */
  loadEventFilter?(): Promise<() => EventFilter>
  /** Set if responses in the format describe the target, earlier attempts, and the cost (`WriterContext.describe`). */
  readonly describesAttempts?: true
  /** The fields with a response's content. For formats that also have providers, the readers define them. */
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

/** An endpoint for model requests: its path, format, and operation. */
export interface Endpoint {
  /** Relative to the base path. Contains `{model}` if the path names the model. */
  path: string
  /** The format of requests, responses, and errors. */
  format: ClientFormat
  operation: Operation
  /** The body fields that may name the model. If several are present, the first one counts. Default: `model`. */
  modelFields?: readonly string[]
  /** The model name to append if a request names only a provider: `search` turns `tavily` into `tavily/search`. */
  service?: string
  /**
   * How `request/read-request.ts` reads the endpoint's bodies: as JSON, as a form with files (or JSON instead), or as JSON with an audio file in
   * base64.
   */
  bodyType: 'json' | 'form' | 'sound'
  /** The size limit for its body. Default: `maxBodyBytes`. */
  bodyLimit?: 'maxBodyBytes' | 'maxAudioBytes' | 'maxImageBytes'
  /** Returns the size in bytes of base64 files in a JSON body. If present, the limit applies to those files, and the body may be a third larger. */
  getBase64Size?(body: JsonObject, files: readonly FormFile[]): number
  /** When to stream the response: if the body's `stream` is true, always, or never. */
  streams: 'requested' | 'always' | 'never'
  /** The body field and value that request a stream. Default: `stream: true`. */
  streamTrigger?: { field: string; value: string }
  /** The content types of complete responses. Default: JSON. */
  responseTypes?: readonly string[]
  /** The headers that name the model and request a stream with "true", if they replace body fields. */
  headers?: { readonly model: string; readonly stream?: string; readonly version?: string }
  /** The API version, if the path or a header contains it. */
  version?: string
  /** Returns the path under a provider's base URL, with its query. */
  upstreamPath(model: string): string
  /** Additional fields for an error's message, for clients that look for it there. */
  messageFields?: readonly string[]
  /**
   * Fields that refer to responses that a provider stores. They are rejected, because the gateway doesn't store responses and uses several providers.
   */
  statefulFields?: readonly string[]
  /** The field that providers reject in requests that don't stream. */
  streamOnlyField?: string
  /** Replaces the model in the body without changing anything else. Only for requests that name their model in several places. */
  replaceModel?(text: string, model: string): string
  /** Returns the IDs of earlier response items that a request refers to. Only if requests can do that. */
  getReferences?(request: { body: JsonObject }): readonly string[]
  /** Returns when to compact the conversation. Only if requests can request compaction. */
  getCompactionMode?(request: JsonObject): CompactionMode | undefined
  /**
   * Returns whether the client's streaming request neither asks for usage nor opts out, so that the gateway may request it. Set only if providers
   * don't report it by default, as with Chat Completions.
   */
  mayRequestUsage?(request: JsonObject): boolean
  /** Set if requests can limit their output (`getOutputLimit` in formats/output-limits.ts). */
  limitsOutput?: true
  /** The maximum usage of a request. Default: the operation's bound (`getBound` in kinds/request-bounds.ts). */
  bound?: RequestBound
}

/** The maximum usage of a request, read from its body. Each field has a default. */
export interface RequestBound {
  /** Returns how many responses the request asks for. The output limit applies to each of them. Default: one. */
  countResponses?(body: JsonObject): number
  /** Set for responses without output tokens, such as vectors and scores. */
  readonly hasNoOutput?: true
  /** Set if requests are billed by tokens or by units, depending on which one the model has a price for. Default: by both. */
  readonly isBilledOnce?: true
  /** Returns the maximum input tokens. `estimate` is the estimate for the body, which is the default. */
  inputTokens?(body: JsonObject, estimate: () => number, files?: readonly FormFile[]): number
  /** Returns the maximum output tokens if requests can't limit them. Default: the model's maximum. */
  outputTokens?(body: JsonObject, files?: readonly FormFile[]): number
  /** Returns the maximum billable units other than tokens. Default: none. `files` contains the form's files. */
  units?(body: JsonObject, files?: readonly FormFile[]): NonNullable<TokenUsage['units']>
}

/** The output limit in an endpoint's requests. */
export interface OutputLimit {
  /** Returns the limit in tokens, or `undefined` if it is absent or isn't a positive number. */
  get(body: JsonObject): number | undefined
  /** Sets the limit in the text without changing anything else. `field` is the name that the provider reads, if its format has several. */
  set(request: { text: string; body: JsonObject }, tokens: number, field: Traits['outputLimitField']): string
  /** The clients' name for the limit. */
  readonly name: string
}

/** Creates an endpoint with a path that doesn't depend on the model: under `/v1` for clients, under the base URL for providers. */
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
