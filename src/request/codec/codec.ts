import type { ByteStream, Exchange, UpstreamCall, UpstreamFetch } from '../../lib/exchange.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Scope } from '../../lib/scope.ts'
import type { OutputFormat } from '../../protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse } from '../../protocols/formats/canonical/canonical-response.ts'
import type { ItemMemory } from '../../protocols/formats/canonical/item-memory.ts'
import type { Format, ResponseReader, UpstreamFormat } from '../../protocols/formats/format.ts'
import type { Operation } from '../../protocols/formats/model-operations.ts'
import type { WriterContext } from '../../protocols/formats/translator.ts'
import type { Catalog, Clock } from '../../types.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { TimeLimits } from '../upstream/provider-call.ts'
import type { UpstreamRequest } from '../upstream/upstream-request.ts'
import type { ModelCall } from './model-call.ts'
import type { RelayedStream, RelayOptions } from './relay.ts'
import type { BufferedResponse, FailedResponse, ReceivedResponse, StreamStart } from './response.ts'
import type { UsageRequests } from './usage-request.ts'

/** How the gateway sends one request to one target and reads the response: passed through or translated. */
export interface Codec {
  /** The target's format, which splits its streams into events and reads its errors. */
  format: UpstreamFormat
  /** The operation to call: the client's own, or an operation whose result is converted to the client's response. */
  operation: Operation
  /** Reads the target's responses to this operation. */
  reader: ResponseReader
  request: UpstreamRequest
  /**
   * The other calls of a split request. A few run at a time, in parallel with `request`. `readWhole` of this codec gets the responses to all calls,
   * in order.
   */
  otherParts?: readonly CodecPart[]
  /** Whether successful calls count if other calls of a split request fail. Default: the entire request fails. */
  isPartial?: boolean
  /** Completes a response: waits for its job, and downloads the files that it links to. Never rejects. Absent if the response is already complete. */
  complete?(response: BufferedResponse, options: CompletionOptions): Promise<BufferedResponse | FailedResponse>
  /** Whether the client gets the provider's bytes and headers unchanged. */
  isPassThrough: boolean
  /**
   * Whether the response is for the client. If not, it prepares the client's own request, such as a summary: it isn't streamed, and it is passed to
   * `followUp`.
   */
  isForClient: boolean
  /**
   * The codec of the next call, if this response requires one: for the client's own request, or for the same request without the options that the
   * target has rejected. Absent if no response can require one.
   */
  followUp?(received: BufferedResponse | FailedResponse): Promise<Codec | undefined>
  /** Returns warnings about the translation, such as `dropped:seed`. */
  warnings(): readonly string[]
  /** Converts the response to the client's format. Throws `UPSTREAM_INVALID` if it can't be read. */
  readWhole(response: BufferedResponse): Uint8Array
  /** Reverts the changes made to the request for the target. Absent if there are none. */
  restoreResponse?(response: CanonicalResponse): CanonicalResponse
  /** Converts the provider's error to the client's format. */
  readFailure(failed: FailedResponse): FailedResponse
  streamType: 'text/event-stream' | 'application/json'
  /** Whether the target streams even though the client didn't request events, as with audio. */
  alwaysStreams?: true
  /** Returns the content type for the client. If absent, it is the same as in chat. */
  replyType?(response: ReceivedResponse): string
  relay(body: ByteStream, committed: StreamStart, options: RelayOptions): RelayedStream
}

/** One of the calls that a request is split into. */
export interface CodecPart extends Pick<Codec, 'request' | 'reader' | 'complete'> {}

/** Options for completing a response. */
export interface CompletionOptions {
  /** The call that returned the response. */
  call: UpstreamCall
  /** Ends when the client stops waiting. */
  scope: Scope
  limits: TimeLimits & { maxImageBytes: number; maxResponseBytes: number }
}

/** The parts of a request that codecs use. */
export interface CodecRequest {
  readonly exchange: Pick<Exchange, 'header' | 'copyHeaders' | 'query'>
  readonly call: ModelCall
  /** The client's format. */
  readonly format: Format
  readonly context: CodecContext
  /** The gateway's models. */
  readonly table: Pick<RouteTable, 'catalog' | 'loadCustomModels'>
  /** The ID of the client's key. Empty if there is none. */
  readonly owner: string
  /** Describes the target in responses, for formats that have a field for it. The returned function takes the response's usage. */
  describe?(target: RouteTarget): NonNullable<WriterContext['describe']>
  /** The maximum number of output tokens, if the gateway sets it instead of the client. */
  readonly outputLimit?: number
  /** Edits the provider's body after translation. Absent if no step edits it. */
  readonly editBody?: (body: JsonObject) => JsonObject
  /** Ends when the client stops waiting. Absent if the request is only explained, in which case nothing is downloaded. */
  readonly scope?: Scope
}

/** The request and target behind a response. */
export interface ResponseSource {
  request: Pick<CodecRequest, 'context'>
  route: { target: RouteTarget }
  codec: Pick<Codec, 'format' | 'restoreResponse'>
}

/** The dependencies of codecs. */
export interface CodecContext {
  catalog: Catalog
  clock: Clock
  /** Calls upstreams on behalf of the request. */
  fetch: UpstreamFetch
  /** Whether requests are rejected if their translation would drop something. */
  isStrict: boolean
  /** Whether the gateway downloads media for targets that accept only bytes, if the request contains a URL. */
  fetchesMedia: boolean
  /** Whether the gateway requests stream usage if the client doesn't. */
  includesStreamUsage: boolean
  /** Counts the units of non-chat requests. Lazy-loaded. */
  estimates: { load(): Promise<unknown> }
  /** Lazy-loads the code that requests stream usage. */
  loadUsageRequests(): Promise<UsageRequests>
  /** Lazy-loads the translation. */
  loadTranslation(): Promise<Translation>
  missingEndpoints: EndpointMemory
  /** The items that Responses clients can refer to by ID. */
  items: ItemMemory
}

/** Remembers targets that lack an operation's endpoint although their format defines one. */
export interface EndpointMemory {
  /** Returns whether the target was found to lack the endpoint within the last hour. */
  isMissing(target: RouteTarget, operation: Operation): boolean
  recordMissing(target: RouteTarget, operation: Operation): void
}

/** The codecs that use the canonical format, with the data that they share across requests. */
export interface Translation {
  /** Rejects with `INVALID_REQUEST` if the target's format doesn't support the request, and with `FORMAT_MISMATCH` if it lacks the endpoint. */
  createCodec(request: CodecRequest, target: RouteTarget): Promise<Codec>
  /** Returns whether the gateway must compact the conversation for a target with the client's own format, because the target can't do it itself. */
  needsCompaction(request: CodecRequest, target: RouteTarget): Promise<boolean>
  /** Adds combo entry parameters, or the request's `outputLimit`, to a passed-through request. */
  applyOptions(request: CodecRequest, target: RouteTarget, codec: Codec): Promise<Codec>
  /** Returns the output format that the request specifies, or `undefined` if it specifies none or can't be read. */
  getOutputFormat(request: CodecRequest): Promise<OutputFormat | undefined>
  /** Reads a response as the client will see it. Returns `undefined` if it can't be read. */
  readCanonicalResponse(
    response: Pick<BufferedResponse, 'json' | 'bytes' | 'events'>,
    source: ResponseSource,
  ): Promise<CanonicalResponse | undefined>
  /** Returns whether a stream's first chunks show that a content filter ended the response, or that the model refused. */
  isFiltered(head: readonly Uint8Array[], source: ResponseSource): Promise<boolean>
  /** Returns the codec for a provider that streams although the client requested a complete response. */
  adaptToEvents(request: CodecRequest, target: RouteTarget, codec: Codec): Promise<Codec>
  /** Returns the codec for a provider that sends a complete response although the client requested a stream. */
  adaptToWhole(request: CodecRequest, target: RouteTarget, codec: Codec): Promise<Codec>
}
