import type { JsonObject } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { OptionName, Traits } from '../../traits.ts'
import type { ProviderFormat } from '../../types.ts'
import type { CanonicalError } from './canonical/canonical-errors.ts'
import type { CanonicalRequest } from './canonical/canonical-request.ts'
import type { CanonicalResponse, TokenUsage } from './canonical/canonical-response.ts'
import type { Origin } from './canonical/canonical-state.ts'
import type { ReaderEvent, StreamEvent } from './canonical/canonical-stream.ts'
import type { ResponseWarnings, Warnings } from './canonical/canonical-warnings.ts'

/** Translates between the canonical format and a provider format. All functions are synchronous and stateless. */
export interface UpstreamTranslator {
  /** The traits of the format's own vendor. Other vendors and models only declare their differences from these. */
  readonly traits: Traits
  /** The options that the format has a field for. `writeRequest` never receives any others. */
  readonly supportedOptions: ReadonlySet<OptionName>
  /** The format's names for the canonical fields, for warnings and for provider errors. */
  readonly fieldNames?: Readonly<Record<string, string>>
  /** Set if the format's providers hide the model's reasoning unless a request asks for it. */
  readonly hidesReasoning?: boolean
  /** Writes a request that `prepareRequest` prepared for the same target. */
  writeRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest
  /** Parses a provider's complete response. Throws `UPSTREAM_INVALID` if the body isn't a response. */
  parseResponse(body: JsonObject, context: ReaderContext): CanonicalResponse
  /** Returns the complete response that a stream's last events repeat. Absent for formats with streams that don't repeat it. */
  findResponse?(events: readonly SseEvent[]): JsonObject | undefined
  /** Creates a reader for a provider's stream, which calls `emit` with each event. */
  createReader(context: ReaderContext, emit: (event: ReaderEvent) => void): StreamReader
  /** Counts a request's tokens. Absent if the format has no endpoint for that. */
  readonly tokenCounter?: UpstreamTokenCounter
  /** Parses a provider's error response. (`parseProviderError` also reads bodies in other formats.) */
  parseError(response: ErrorResponse): CanonicalError
}

/** Counts a request's tokens with a provider's endpoint. */
interface UpstreamTokenCounter {
  writeRequest(request: CanonicalRequest, target: TargetContext): UpstreamRequest
  /** Parses the count in a provider's response. Returns `undefined` if the response has none. */
  parseCount(body: JsonObject): number | undefined
}

/** An `UpstreamTokenCounter` for a format that also has clients. */
interface TokenCounter extends UpstreamTokenCounter {
  /** Parses a client's token-count request. Absent if it has the same form as a normal request. */
  parseRequest?(body: JsonObject, context: ParseContext): CanonicalRequest
  /** Writes the count for a client. */
  writeCount(tokens: number): JsonObject
}

/** Translates between the canonical format and a client format. Its functions are also synchronous and stateless. */
export interface ClientTranslator {
  /** The format's names for the canonical fields, for warnings to clients. */
  readonly fieldNames: Readonly<Record<string, string>>
  readonly tokenCounter?: TokenCounter
  /** Set if clients that set a reasoning budget see the reasoning, unless the request hides it. */
  readonly showsBudgetedReasoning?: boolean
  /** Parses a client's request. Throws `INVALID_REQUEST`, naming the field, if it is malformed or if no other format can express it. */
  parseRequest(body: JsonObject, context: ParseContext): CanonicalRequest
  /** Writes a complete response for a client. */
  writeResponse(response: CanonicalResponse, context: WriterContext): JsonObject
  /** Writes the complete response to a compaction request. `body` is the request body. Absent if clients can't request compaction. */
  writeCompaction?(response: CanonicalResponse, context: WriterContext, body: JsonObject): JsonObject
  /** Creates a writer for a client's stream, which calls `write` with one complete server-sent event at a time. */
  createWriter(context: WriterContext, write: (event: string) => void): StreamWriter
  /** Writes an error response for a client. */
  writeError(error: CanonicalError): { status: number; headers: Record<string, string>; body: JsonObject }
  /** Parses an error response that clients can't read unchanged. */
  parseError(response: ErrorResponse): CanonicalError
}

/** Translates between the canonical format and a format for both clients and providers. */
export interface Translator extends UpstreamTranslator, ClientTranslator {
  readonly fieldNames: Readonly<Record<string, string>>
  /** Where requests contain the options that combo entries can set. Lists all of the format's names, with `.` before nested fields. */
  readonly optionFields: Readonly<Partial<Record<OptionName, readonly string[]>>>
  readonly tokenCounter?: TokenCounter
}

export interface ParseContext {
  warnings: Warnings
  /** The API version in the request header or path, if the format has one (Anthropic: `2026-10-21`, AI SDK: `4`). */
  version?: string
  /** The target's format, for requests that list a file's IDs at several vendors. */
  targetFormat?: ProviderFormat
  /** The path parameters, for formats that have some (Gemini). `isArray` means that the stream is a JSON array instead of events. */
  route?: { model: string; stream: boolean; isArray?: boolean }
  /** Set if the client requests a compaction instead of a response. */
  isCompaction?: boolean
  /** Returns the item that this gateway sent to the client under an ID, if it is still stored. */
  getItem?(id: string): JsonObject | undefined
}

/** A request's target and its capabilities. */
export interface TargetContext {
  /** The provider's name for the model. */
  model: string
  traits: Traits
  /** The origin whose opaque state the target may receive. */
  origin: Origin
  warnings: Warnings
}

/** A request for the provider. The pipeline adds the host and the credential. */
export interface UpstreamRequest {
  /** The path under the provider's base URL, with its query: `/chat/completions`, `/models/m:streamGenerateContent?alt=sse`. */
  path: string
  /** Headers that extend or override the format's `defaultHeaders`. */
  headers: Record<string, string>
  body: JsonObject
}

export interface ReaderContext {
  /** The origin of all opaque state in the response. */
  origin: Origin
  traits: Traits
  /** Returns a random ID of 24 letters and digits, without a prefix. */
  newId(): string
  /** Collects everything that the canonical format can't express. */
  responseWarnings: ResponseWarnings
  /** Set if the request offers provider-run tools, so the client gets their calls and results. */
  hasHostedTools?: boolean
}

export interface WriterContext {
  /** The client's request, as `parseRequest` returned it. */
  request: CanonicalRequest
  /** The model name that the client sees. */
  model: string
  newId(): string
  /** Unix time in seconds. */
  nowSeconds: number
  /** Collects everything that the client's format can't express. */
  responseWarnings: ResponseWarnings
  /** Lists what the request's translation dropped or changed, such as `dropped:seed`. */
  requestWarnings?(): readonly string[]
  /** Describes the response for formats that support it: the target, the earlier attempts, and the cost of this usage. */
  describe?(usage: TokenUsage | undefined): JsonObject
  /** Stores a response item as JSON. Only set for formats with clients that refer to items by ID. */
  storeItem?(id: string, json: string): void
  /** Call this before the last event or an error, once all dropped fields are known. Absent for clients that mistake comments for events. */
  beforeEnd?(): void
}

export interface ErrorResponse {
  status: number
  /** The body: parsed JSON, or text if it isn't JSON. */
  body: unknown
  header(name: string): string | undefined
  /** Epoch ms. */
  nowMs: number
}

/** Reads a provider's stream. Emits `unreadable` for an event that isn't JSON. */
export interface StreamReader {
  observe(event: SseEvent): void
  /** Ends the stream and emits buffered events. `createEventSequencer` determines whether the stream ended normally. */
  end(): void
}

export interface StreamWriter {
  push(event: StreamEvent): void
  /** Receives a provider event's data before it is translated. Only set if the client requested it. */
  pushRaw?(data: string): void
  /** Returns a server-sent event or comment that keeps a silent stream open. Can be sent at any time. */
  keepAlive(): string
  /** The content type, if it isn't `text/event-stream`. */
  readonly contentType?: string
}
