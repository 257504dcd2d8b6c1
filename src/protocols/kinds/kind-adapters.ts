import type { JsonObject } from '../../lib/json.ts'
import type { FormFile, FormPart } from '../../lib/multipart.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { FieldNames, ResponseWarnings, Warnings } from '../formats/canonical/canonical-warnings.ts'
import type { EmbeddedError, ResponseReader, TokenUsage } from '../formats/format.ts'
import type { ProviderTarget } from '../providers/target.ts'

/** The fields that all kinds' responses share. */
export interface KindResponse {
  usage?: TokenUsage | undefined
  /** The provider's name for the model. */
  model?: string | undefined
}

/** How a kind's clients write requests and read responses. All of the kind's adapters translate to and from `Req`, `Res`, and stream chunks. */
export interface ClientAdapter<Req, Res, Chunk = never> {
  /** The client's names for the fields of `Req`, used in warnings and errors. */
  readonly fieldNames?: FieldNames
  /** Reads a request. Throws `INVALID_REQUEST` (`warnings.reject`) with the field's name if a field is malformed. */
  read(body: JsonObject, context: ClientReadContext): Req
  /** Writes a complete response: an object as JSON, a string as plain text. */
  write(response: Res, context: ClientWriteContext<Req>): JsonObject | string
  /** The content type of a complete response. Default: `application/json`. */
  getContentType?(request: Req): string
  /** Creates the writer for a response in events or bytes. If absent, or if it returns `undefined`, `write` writes the complete response. */
  createStream?(request: Req, context: ClientWriteContext<Req>): ClientStream<Res, Chunk> | undefined
}

/** Writes one response in chunks. */
export interface ClientStream<Res, Chunk> {
  /** Returns the content type of the response. `vendorType` is the content type of a vendor's response in bytes. */
  getContentType(vendorType?: string): string
  /** Returns a chunk's bytes, or `undefined` if the chunk isn't sent. */
  writeChunk(chunk: Chunk): Uint8Array | undefined
  /** Returns the bytes that follow the last chunk. */
  writeEnd(usage: TokenUsage | undefined): Uint8Array | undefined
  splitResponse(response: Res): readonly Chunk[]
  /** Whether the client reads events. If so, an error is sent as an event; otherwise, the connection is aborted. */
  readonly writesEvents: boolean
}

/** The content of an event, or of a sequence of bytes, in a vendor's stream. */
export interface StreamContent<Chunk> {
  /** The first chunk commits the response: after that, no other target is tried. */
  chunks?: readonly Chunk[]
  usage?: TokenUsage | undefined
  error?: EmbeddedError | undefined
  isLast?: boolean
}

/** Reads the stream of one response. `acceptsType` returns whether a content type indicates content rather than a plain-text error. */
export type VendorStream<Chunk> =
  | { readonly framing: 'events'; read(event: SseEvent): StreamContent<Chunk> }
  | {
      readonly framing: 'bytes'
      acceptsType(contentType: string): boolean
      read(bytes: Uint8Array): StreamContent<Chunk>
    }

export interface ClientReadContext {
  /** Collects the fields that the target doesn't receive. In strict mode, dropping a field rejects the request. */
  warnings: Warnings
  /** Returns a request header. Some clients use a header to show which response they expect. */
  header(name: string): string | undefined
  /** The files of a form. */
  files: readonly FormFile[]
  /** Epoch seconds. */
  now: number
}

export interface ClientWriteContext<Req> {
  request: Req
  /** Collects the parts of the response that the client doesn't receive. */
  warnings: ResponseWarnings
  /** The provider's ID. */
  provider: string
  /** The provider's name for the model, or the target's if the response has none. */
  model: string
  /** Epoch seconds. */
  now: number
  newId(): string
  /** Lists the parts of the request that the target doesn't receive, such as `dropped:seed`. */
  listDroppedFields(): readonly string[]
  describe?: KindCall['describe']
}

/** How a vendor expects requests of a kind, and how it writes responses. */
export interface VendorAdapter<Req, Res extends KindResponse, Chunk = never> {
  /** The adapter's name, which a connection can set as its `format` (`vendorFormats` in src/types/unions.ts). */
  readonly name: string
  /** The IDs of the providers that use this adapter. */
  readonly providers?: readonly string[]
  /** Returns whether a target uses this adapter, if that doesn't depend on its provider's ID. */
  matches?(target: ProviderTarget): boolean
  /** The vendor's base URL for this kind, if it differs from the one in the catalog. */
  readonly baseUrl?: string
  /** Derives the base URL for the adapter's paths from the connection's base URL. Default: unchanged. */
  adaptBaseUrl?(baseUrl: string): string
  /** The credential header, in lowercase. Default: the provider's or its format's. */
  readonly keyHeader?: string
  /** Set if the vendor doesn't accept image URLs, so the gateway fetches the images. */
  readonly needsImageBytes?: true
  /** Returns the maximum number of entries in one call. Default: no limit. Larger requests are split. */
  getMaxEntries?(target: ProviderTarget): number
  /** Returns the maximum number of tokens of all entries in one call. Default: no limit. Larger requests are split. */
  getMaxTokens?(target: ProviderTarget): number
  /** The clients whose requests are passed through. */
  readonly passThrough?: readonly PassThrough<Req>[]
  /** Writes a request. Reports unsupported fields (`warnings.recordDrop`) or rejects the request. */
  writeRequest(request: Req, context: VendorContext): VendorRequest
  /** Reads a response. If the body isn't valid, returns a description of the missing part, such as "an embedding for each input". */
  readResponse(json: JsonObject, request: Req): Res | string
  /** The field in which to wrap a response that is an array. */
  readonly arrayField?: string
  /** The field in which to wrap a response that is plain text. */
  readonly textField?: string
  /** The field in which to wrap a complete response in bytes (image or audio), as base64. Its media type goes in `type`. */
  readonly bytesField?: string
  /** For vendors that respond with a job, which is polled until it is done. */
  readonly job?: JobPolling
  /** Creates the reader for the stream that this request returns. If absent, or if it returns `undefined`, the response isn't streamed. */
  createStream?(request: Req, target: ProviderTarget): VendorStream<Chunk> | undefined
  /** Returns the client's content type for a response in bytes. `vendorType` is the vendor's content type if its response is also in bytes. */
  getContentType?(request: Req, vendorType: string | undefined): string | undefined
  /** Reads the usage from response headers, for vendors whose bodies don't report it. */
  readHeaderUsage?(header: (name: string) => string | undefined): TokenUsage | undefined
  /** Finds the error in a response with status 200. Default: the one in its `error` field. */
  findError?(json: JsonObject, request: Req): EmbeddedError | undefined
}

/** A job's state. `refused` means that a content filter rejected the request. */
export type JobState = 'open' | 'done' | 'failed' | 'refused'

/** How to poll a job for its result. */
export interface JobPolling {
  /**
   * The vendor's domain. If the job was started on this domain, the domain's https URLs also get the credential. Default: only URLs with the same
   * origin get it.
   */
  readonly domain?: string
  /** Finds where to poll the job in the response of `requestUrl`, or returns `undefined` if the response isn't a job. */
  findJob(json: JsonObject, requestUrl: string): JobPoll | undefined
  /** Reads the state from the response to a poll. When the job is done, that response is the result. */
  readState(json: JsonObject): JobState
}

export interface JobPoll {
  url: string
  /** The body of a `POST`. If absent, the poll is a `GET`. */
  body?: JsonObject
  /** Fields of the first response to add to the result. */
  extraFields?: JsonObject
}

/** Functions that complete a provider's response. */
export interface CompletionTools {
  requestUrl: string
  /** Resolves to a job's result. Rejects if the job fails, is blocked by a content filter, or takes too long, or if its URL isn't the vendor's. */
  awaitJob(poll: JobPoll, job: JobPolling): Promise<JsonObject>
  /** Fetches an image without a credential. Resolves to `undefined` if its URL isn't public, or if the download fails. */
  download(url: string): Promise<{ bytes: Uint8Array; mediaType: string } | undefined>
}

/** How to pass requests through to a vendor that uses the client's format. */
export interface PassThrough<Req> {
  /** The name of the client adapter. */
  readonly client: string
  path(target: ProviderTarget): string
  /** Body fields, one of which contains the entries. If absent, a request that must be split is translated instead. */
  readonly listFields?: readonly string[]
  /** Returns whether the request may be passed through to this target. Default: always. */
  accepts?(request: Req, target: ProviderTarget): boolean
  /** Returns the body fields that the target doesn't support and that don't affect the response. */
  getExcludedFields?(request: Req, context: VendorContext): readonly string[]
  /** Returns fields to put at the start of the body, replacing fields with the same names. */
  getAddedFields?(request: Req, context: VendorContext): JsonObject
  /** Rewrites a form's parts. Default: unchanged. */
  rewriteForm?(parts: readonly FormPart[], request: Req): readonly FormPart[]
  /** Reads a response's text without parsing all of it, if the client can get the text unchanged. */
  skim?(text: string, request: Req): JsonObject | undefined
  /** Rewrites the response for the client. If `undefined`, the client gets the same bytes. */
  rewriteResponse?(json: JsonObject, request: Req): JsonObject | undefined
  /** Creates the reader for a stream that the client gets byte for byte. */
  createStream?(request: Req): VendorStream<unknown> | undefined
}

export interface VendorContext {
  target: ProviderTarget
  /** The client's body. */
  body: JsonObject
  fetchedImages?: FetchedImages | undefined
  /** The parts of the client's form, or `undefined` if its body was JSON. */
  form: readonly FormPart[] | undefined
  warnings: Warnings
}

/** Images by their URLs. */
export type FetchedImages = ReadonlyMap<string, { bytes: Uint8Array; type: string }>

/** A request to a vendor, without its base URL and credential. */
export interface VendorRequest {
  /** The path relative to the base URL. */
  path: string
  /** The query parameters. Undefined fields are omitted, and arrays repeat the field. */
  query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>
  /** Default: `POST`. */
  method?: 'GET'
  /** Headers with lowercase names. */
  headers?: Readonly<Record<string, string>>
  body?: JsonObject
  /** Replaces `body` with a form that sends its files last. */
  form?: readonly FormPart[]
  /** Replaces `body` with bytes of this content type. */
  bytes?: { type: string; bytes: Uint8Array }
  /** The cloud service, if it differs from the one for chat, such as `bedrock-agent-runtime`. */
  service?: string
}

/** How to split requests with more entries than a vendor accepts in one call. */
export interface RequestSplitter<Req, Res extends KindResponse> {
  countEntries(request: Req): number
  /** Estimates an entry's tokens, never below the vendor's count. If absent, entries count as zero tokens. */
  countTokens?(request: Req, entry: number): number
  /** Returns the request for the entries from `start` (inclusive) to `end` (exclusive). */
  slice(request: Req, start: number, end: number): Req
  /** Joins the parts' responses, in order. Usage is totaled elsewhere. */
  join(responses: readonly Res[]): Res
  /** Set if successful parts count even when others fail. Default: one failure fails the request. */
  readonly allowsPartialSuccess?: true
  /**
   * Creates a check that receives the response to each part in turn. It returns a description of what a response lacks compared with earlier ones, or
   * `undefined`.
   */
  createCheck?(): (response: Res) => string | undefined
}

/** Defines a kind's adapters. */
export interface KindDefinition<Req, Res extends KindResponse, Chunk = never> {
  readonly clients: Readonly<Record<string, ClientAdapter<Req, Res, Chunk>>>
  /** The vendor adapters. A target uses the first one that matches it. */
  readonly vendors: readonly VendorAdapter<Req, Res, Chunk>[]
  /** The adapter for all other targets. */
  readonly fallback: VendorAdapter<Req, Res, Chunk>
  readonly splitter?: RequestSplitter<Req, Res>
  /** Set if input tokens have a price. They are estimated if a provider doesn't report them. */
  readonly estimatesTokens?: true
  /** Completes a response, for example by downloading its images. */
  completeResponse?(response: Res, request: Req, tools: CompletionTools): Promise<Res>
  /** Lists the image URLs that some vendors need as bytes. */
  getImageUrls?(request: Req): readonly string[]
  /** Estimates the usage from the request, for vendors that don't report any. The estimated units also count if a vendor reports only tokens. */
  estimateUsage?(request: Req): TokenUsage | undefined
  /** Adds the facts that a response's price depends on. `response` is `undefined` for a stream. */
  addPriceFacts?(usage: TokenUsage, request: Req, response: Res | undefined): TokenUsage
  /** The field in a provider's definition that contains the base URL and key header for this kind. */
  readonly configField?: 'searchConfig' | 'fetchConfig'
}

/** A client's request to one target. */
export interface KindCall {
  /** The name of the client adapter. */
  client: string
  body: JsonObject
  /** The text of the body, with the target's name for the model. */
  text: string
  /** The parts of a form. */
  form: readonly FormPart[] | undefined
  fetchedImages?: FetchedImages
  warningsFor(names: FieldNames | undefined): Warnings
  header(name: string): string | undefined
  /** Epoch seconds. */
  now(): number
  newId(): string
  /** Describes the target that responded, the earlier attempts, and the cost. Absent if the client's format has no field for it. */
  describe?: ((usage: TokenUsage | undefined) => JsonObject) | undefined
}

/** One of the calls for a request. */
export interface PreparedPart {
  request: Omit<VendorRequest, 'body' | 'form' | 'bytes'> & { body?: string | Uint8Array | undefined }
  reader: ResponseReader
  /** Waits for a job's result, and downloads images that the response only links to. Absent if the vendor never needs either. */
  completeResponse?(json: JsonObject, tools: CompletionTools): Promise<JsonObject>
}

/** A call to a target: its requests, and how to translate the responses for the client. */
export interface PreparedCall {
  /** How the vendor adapter changes the target's URL and key header. */
  urlOverrides: {
    [Name in 'baseUrl' | 'adaptBaseUrl' | 'keyHeader']?: VendorAdapter<unknown, KindResponse>[Name] | undefined
  } & { configField?: KindDefinition<unknown, KindResponse>['configField'] | undefined }
  /** At least one part; several if the request is split. */
  parts: readonly PreparedPart[]
  /** Whether successful parts count even if others fail. */
  allowsPartialSuccess: boolean
  isPassThrough: boolean
  /** Lists the dropped fields of the request and, once it is written, of the response. */
  listDroppedFields(): readonly string[]
  /**
   * Writes the client's response. Returns `undefined` if the client gets the only part's bytes unchanged. `usage` is the total usage of all parts.
   */
  writeResponse(
    responses: readonly JsonObject[],
    usage: TokenUsage | undefined,
  ): JsonObject | string | Uint8Array | undefined
  /** Returns the client's content type. `sentType` is the vendor's content type. */
  getContentType(sentType: string | undefined, isComplete: boolean): string
  /** Translates a streamed response, or `undefined` if the response isn't streamed. */
  stream: PreparedStream | undefined
}

/** Translates a vendor's stream for a client. */
export interface PreparedStream {
  readonly framing: 'events' | 'bytes'
  /** Whether the client reads events. */
  readonly writesEvents: boolean
  /** Starts the translation of one response. */
  open(): {
    read(
      input: SseEvent | Uint8Array,
    ): Omit<StreamContent<never>, 'chunks'> & { bytes: readonly Uint8Array[]; hasChunks: boolean }
    /** Returns the bytes that follow the last input. */
    end(reported: TokenUsage | undefined): readonly Uint8Array[]
  }
  /** Returns the usage that the stream `reported`, or else the usage in the headers, or else an estimate. */
  getUsage(reported: TokenUsage | undefined, header: (name: string) => string | undefined): TokenUsage | undefined
}

/** The adapters of a kind, ready for requests. */
export interface KindAdapters {
  /** Throws `INVALID_REQUEST` if the request is malformed or the target doesn't support it. */
  prepare(call: KindCall, target: ProviderTarget): PreparedCall
  /** Lists the URLs of images that the target needs as bytes. Throws like `prepare` if the request is malformed. */
  getImageUrls(call: KindCall, target: ProviderTarget): readonly string[]
  /** The names of the client adapters. */
  readonly clients: readonly string[]
  /** The names of the vendor adapters. */
  readonly vendors: readonly string[]
}
