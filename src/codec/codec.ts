import type { Answer } from '../formats/canonical/answer.ts'
import type { ItemMemory } from '../formats/canonical/item-memory.ts'
import type { OutputFormat } from '../formats/canonical/request.ts'
import type { AnswerReader, Format, UpstreamFormat } from '../formats/format.ts'
import type { Operation } from '../formats/operations.ts'
import type { WriteContext } from '../formats/translator.ts'
import type { ByteStream, Exchange, UpstreamCall, UpstreamFetch } from '../lib/exchange.ts'
import type { Scope } from '../lib/scope.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { Catalog, Clock } from '../types.ts'
import type { TimeLimits } from '../upstream/provider-call.ts'
import type { UpstreamRequest } from '../upstream/request.ts'
import type { ModelCall } from './model-call.ts'
import type { RelayedStream, StreamTerms } from './relay.ts'
import type { Committed, FailedResponse, ReceivedResponse, WholeResponse } from './response.ts'
import type { UsageQuestions } from './usage-request.ts'

/** How one request is sent to one target, and how its response is read: passed through or translated. */
export interface Codec {
  /** The target's format, which divides its streams and reads its errors. */
  format: UpstreamFormat
  /** The operation that the target is called for: the client's own, or one whose result the client's answer is made from. */
  operation: Operation
  /** How the target's answers to this operation are read. */
  answers: AnswerReader
  request: UpstreamRequest
  /**
   * The further calls of a divided request, made beside `request`, a few at a time. `readWhole` of this codec gets the responses to all calls, in
   * their order.
   */
  others?: readonly CodecPart[]
  /** Do the calls that were answered count, if others of a divided request fail? Default: all fail. */
  isPartial?: boolean
  /**
   * Makes the answer out of a response: waits for the result of its job, and fetches what it names by address. Never rejects. Absent if the response
   * is the answer.
   */
  complete?(response: WholeResponse, terms: CompletionTerms): Promise<WholeResponse | FailedResponse>
  /** Does the client get the provider's bytes and headers unchanged? */
  isPassThrough: boolean
  /**
   * Is the response for the client? Otherwise it prepares the client's own request, as a summary does: it is requested whole, and passed to
   * `followUp`.
   */
  isForClient: boolean
  /**
   * The codec of the call that has to follow this response: of the client's own request, or of the same request without the options that a
   * failure refuses. `undefined` when none has to; absent when none ever has to.
   */
  followUp?(received: WholeResponse | FailedResponse): Promise<Codec | undefined>
  /** What the translation loses, such as `dropped:seed`. */
  warnings(): readonly string[]
  /** The response in the client's format. Throws `UPSTREAM_INVALID` when it cannot be read. */
  readWhole(response: WholeResponse): Uint8Array
  /** The answer as the client asked for it, where the request was changed for the target; absent: as it is. */
  restored?(answer: Answer): Answer
  /** The failure with the provider's error in the client's format. */
  readFailure(failed: FailedResponse): FailedResponse
  streamType: 'text/event-stream' | 'application/json'
  /** Does the target stream although the client has asked for no events, as where the answer is sound? */
  streams?: true
  /** The content type of a response for the client, and whether it comes whole where a stream was asked for; absent: as in chat. */
  replyType?(response: ReceivedResponse): string
  relay(body: ByteStream, committed: Committed, terms: StreamTerms): RelayedStream
}

/** One of the calls that a divided request is made of. */
export interface CodecPart extends Pick<Codec, 'request' | 'answers' | 'complete'> {}

/** What is known when a response has come. */
export interface CompletionTerms {
  /** The call that it answers. */
  call: UpstreamCall
  /** For how long it is waited for. */
  scope: Scope
  limits: TimeLimits & { maxImageBytes: number; maxAnswerBytes: number }
}

/** The parts of a request that say what it asks for. */
export interface AskedRequest {
  readonly exchange: Pick<Exchange, 'header' | 'copyHeaders' | 'query'>
  readonly call: ModelCall
  /** The client's. */
  readonly format: Format
  readonly context: CodecContext
  /** Where model names lead. */
  readonly table: Pick<RouteTable, 'catalog' | 'customModels'>
  /** The id of the client's key; empty when it has none. */
  readonly owner: string
  /** What the answer of a target says about itself, for clients whose format has a place for it. `usage`: that of the answer. */
  describe?(target: RouteTarget): NonNullable<WriteContext['describe']>
  /** The most tokens that the answer may have, where the gateway sets it in place of the request. */
  readonly outputLimit?: number
  /** For how long the client waits; absent when a request is only explained, for which nothing is fetched. */
  readonly scope?: Scope
}

/** Whose answer it is, and how it came. */
export interface AnswerPlace {
  request: Pick<AskedRequest, 'context'>
  route: { target: RouteTarget }
  codec: Pick<Codec, 'format' | 'restored'>
}

/** What codecs need from the rest of the gateway. */
export interface CodecContext {
  catalog: Catalog
  clock: Clock
  /** The request's way to upstreams. */
  fetch: UpstreamFetch
  /** Is a request refused when its translation would lose something? */
  isStrict: boolean
  /** Are media fetched that a request names by address, for targets that take only bytes? */
  fetchesMedia: boolean
  /** Are providers asked for the usage of streams whose clients do not ask? */
  asksForUsage: boolean
  /** Loaded with the first stream whose usage is asked for. */
  usageQuestions(): Promise<UsageQuestions>
  /** Loaded with the first request that needs it. */
  translation(): Promise<Translation>
  missingEndpoints: EndpointMemory
  /** What Responses clients may refer to by its id. */
  items: ItemMemory
}

/** The targets that have no endpoint for an operation, though they speak the format that has one. */
export interface EndpointMemory {
  /** Was the target found to have none within the last hour? */
  isMissing(target: RouteTarget, operation: Operation): boolean
  /** Remembers that the target has none. */
  noteMissing(target: RouteTarget, operation: Operation): void
}

/** The codecs that go through the canonical form, with what they remember between requests. */
export interface Translation {
  /** Rejects with `INVALID_REQUEST` when the target's format cannot carry the request, and with `FORMAT_MISMATCH` when it has no such endpoint. */
  codecFor(request: AskedRequest, target: RouteTarget): Promise<Codec>
  /** Must the gateway compact the conversation for a target of the client's own format? Not if the target can do it itself. */
  isCompactionOurs(request: AskedRequest, target: RouteTarget): Promise<boolean>
  /** The codec of a request that is passed through, with what entries of combos set for the target, or its `outputLimit`, in the request. */
  withOptions(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec>
  /** The form that a request asks the answer to have; `undefined` where it asks for none, or cannot be read. */
  outputOf(request: AskedRequest): Promise<OutputFormat | undefined>
  /** An answer as the client is to read it; `undefined` when it cannot be read. */
  answerOf(response: Pick<WholeResponse, 'json' | 'bytes' | 'events'>, place: AnswerPlace): Promise<Answer | undefined>
  /** Do the first chunks of a stream say that a content filter has ended the answer, or that the model refuses? */
  seemsFiltered(head: readonly Uint8Array[], place: AnswerPlace): Promise<boolean>
  /** The codec for events in place of a whole response. */
  forEvents(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec>
  /** The codec for a whole response in place of a stream. */
  forWhole(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec>
}
