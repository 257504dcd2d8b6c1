import type { GatewayError } from '../errors.ts'
import type { ItemMemory } from '../formats/canonical/item-memory.ts'
import type { Format, StreamState, TokenUsage, UpstreamFormat } from '../formats/format.ts'
import type { Operation } from '../formats/operations.ts'
import type { ByteStream, Exchange, UpstreamAnswer, UpstreamFetch } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { JsonObject } from '../lib/json.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { BodyTime } from '../lib/timed-body.ts'
import type { HedgeBudget, RetryBudget } from '../routing/budget.ts'
import type { GroupSelection } from '../routing/chooser.ts'
import type { Choosing } from '../routing/choosing.ts'
import type { Group, Route, RouteTarget } from '../routing/group.ts'
import type { TargetHealth } from '../routing/health.ts'
import type { CircuitPermit } from '../routing/permit.ts'
import type { RouteTable } from '../routing/table.ts'
import type { TargetStats } from '../routing/target-stats.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { StoredSettings } from '../store/settings.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Catalog, Clock } from '../types.ts'
import type { CloudCall, UpstreamRequest } from '../upstream/request.ts'
import type { ModelCall } from './call.ts'
import type { Client } from './client.ts'
import type { Failure, StreamEnd } from './failure.ts'
import type { Observer } from './hooks.ts'
import type { AttemptLog, RequestLog } from './log.ts'
import type { KnownKeys } from './secrets.ts'

/** The limits of one model request: sizes in bytes, times in ms. */
export interface PipelineLimits {
  /** Largest body of a model request; default 20 MiB. A larger one gets 413. */
  maxBodyBytes: number
  /** From the start of a request to the last byte of its body, also of a management request; default 300,000. A later one gets 408. */
  bodyTimeoutMs: number
  /** Largest answer that is not streamed; default 64 MiB. A larger one fails its attempt. */
  maxAnswerBytes: number
  /**
   * How much text a stream may have; default 64 MiB. A provider that goes on ends with an error event. Of streams that need no translation it
   * is estimated, once their bytes are more.
   */
  maxStreamBytes: number
  /** Model requests at once; default: any number. Others get 503 with `retry-after` before their body is read. */
  maxConcurrent: number
  /** From the start of an attempt to the headers of its answer, and for a stream to its first content; default 120,000. */
  headersTimeoutMs: number
  /** Between two chunks of an answer; default 60,000. */
  silenceTimeoutMs: number
  /** From the start of an attempt to the last byte of an answer that is not streamed; default 600,000. Streams have no total. */
  totalTimeoutMs: number
  /** Attempts for one request, all targets together; default 3. */
  maxAttempts: number
}

/** Everything that model requests need from the rest of the gateway. */
export interface PipelineContext {
  routes(): Promise<RouteTable>
  /** Rejects with `STORAGE_FAILED`. */
  settings(): Promise<StoredSettings>
  /** The context under the rules of the settings and of a combo. */
  underRules(context: PipelineContext, settings: StoredSettings, combo: Group | undefined): PipelineContext
  /** The connection's credential, decrypted; `undefined` when it has none. */
  apiKeyOf(connection: ConnectionRecord): Promise<string | undefined>
  /** The credentials of all connections that can be decrypted, for removal from errors and headers. */
  knownKeys: KnownKeys
  fetch: UpstreamFetch
  cloudCall: CloudCall
  clock: Clock
  /** Another number in [0, 1) with each call; not for secrets. */
  random(): number
  catalog: Catalog
  limits: PipelineLimits
  /** How long the body of a request may take. */
  bodyTime: BodyTime
  retryBudget: RetryBudget
  hedgeBudget: HedgeBudget
  /** Is a request refused when its translation would lose something? */
  isStrict: boolean
  /** Are media fetched that a request names by address, for targets that take only bytes? */
  fetchesMedia: boolean
  /** Are providers asked for the usage of streams whose clients do not ask? */
  asksForUsage: boolean
  /** How requests choose in groups; loaded with the first request that comes to one. */
  choosing(): Promise<GroupRouting>
  /** Loaded with the first request that needs it. */
  translation(): Promise<Translation>
  health: TargetHealth
  targetStats: TargetStats
  inFlight: InFlight
  observer: Observer
  aroundAttempt: readonly AttemptStep[]
  compactions: CompactionMemory
  /** What Responses clients may refer to by its id. */
  items: ItemMemory
}

/** A step around an attempt: what it does before and after `next`, which makes the attempt. */
export type AttemptStep = (
  attempt: { request: ModelRequest; target: Target },
  next: () => Promise<Outcome>,
) => Promise<Outcome>

/** The targets that have no endpoint for compactions, though they speak the format that has one. */
export interface CompactionMemory {
  /** Was the target found to have none within the last hour? */
  isLacking(target: RouteTarget): boolean
  /** Remembers that the target has none. */
  noteLacking(target: RouteTarget): void
}

/** What a request comes with, and runs in. */
export interface RunOptions {
  /** The gateway's. */
  context: PipelineContext
  key?: PresentedKey | undefined
  /** The model's name, where the path has it. */
  pathModel?: string | undefined
}

/** One model request that has been read. */
export interface ModelRequest {
  readonly exchange: Exchange
  readonly call: ModelCall
  /** The client's. */
  readonly format: Format
  /** Under the rules for its model name. */
  readonly context: PipelineContext
  readonly table: RouteTable
  readonly log: RequestLog
  readonly client: Client
  /** The id of the client's key; empty when it has none. */
  readonly owner: string
}

/** The parts of a request that say what it asks for. */
export interface AskedRequest extends Pick<ModelRequest, 'call' | 'format' | 'context' | 'owner'> {
  readonly exchange: Pick<Exchange, 'header' | 'copyHeaders' | 'query'>
  /** Absent when a request is only explained. */
  readonly client?: Client
}

/** A target to try, and how it is asked. */
export interface Target {
  route: Route
  codec: Codec
  /** Tells the target's health what becomes of the call; it was taken when the target was chosen. */
  permit: CircuitPermit
}

/** How one request is sent to one target, and how its response is read: passed through or translated. */
export interface Codec {
  /** The target's format, which reads its streams and errors. */
  format: UpstreamFormat
  request: UpstreamRequest
  /** Does the client get the provider's bytes and headers unchanged? */
  isPassThrough: boolean
  /** What the target is asked for, where that is not what the client asks for. */
  operation?: Operation
  /** Set when the response is not for the client: it makes the codec of the client's own request. */
  next?(response: WholeResponse): Promise<Codec>
  /** The tokens that were spent before on behalf of this request. */
  spent?: TokenUsage | undefined
  /** What the translation loses, such as `dropped:seed`. */
  warnings(): readonly string[]
  /** The response in the client's format. Throws `UPSTREAM_INVALID` when it cannot be read. */
  readWhole(response: WholeResponse): Uint8Array
  /** The codec without the options that the failure refuses; `undefined` when it refuses none that may be left out. */
  withoutRefused?(failed: FailedResponse): Promise<Codec | undefined>
  /** The failure with the provider's error in the client's format. */
  readFailure(failed: FailedResponse): FailedResponse
  streamType: 'text/event-stream' | 'application/json'
  relay(body: ByteStream, committed: Committed, terms: StreamTerms): RelayedStream
}

/** How requests choose in groups. */
export interface GroupRouting extends Choosing {
  /** The routes of a request whose model name means a group. */
  routesThrough(group: Group, request: ModelRequest): GroupRoutes
}

/** The routes of a group in the order in which to try them, and how the request chooses on the way. */
export interface GroupRoutes {
  routes: AsyncGenerator<Route, undefined>
  selection: GroupSelection
}

/** Makes the codec of a request for a target. Rejects with `INVALID_REQUEST` or `FORMAT_MISMATCH` when the target's format cannot carry it. */
export type CodecFor = (request: AskedRequest, target: RouteTarget) => Promise<Codec>

/** The codecs that go through the canonical form, with what they remember between requests. */
export interface Translation {
  /** Rejects with `INVALID_REQUEST` when the target's format cannot carry the request, and with `FORMAT_MISMATCH` when it has no such endpoint. */
  codecFor(request: AskedRequest, target: RouteTarget): Promise<Codec>
  /** Must the gateway compact the conversation for a target of the client's own format? Not if the target can do it itself. */
  isCompactionOurs(request: AskedRequest, target: RouteTarget): Promise<boolean>
  /** The codec of a stream that is passed through, with the question for its usage; the same where the target takes no such question. */
  askingForUsage(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec>
  /** The codec for events in place of a whole response. */
  forEvents(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec>
  /** The codec for a whole response in place of a stream. */
  forWhole(request: AskedRequest, target: RouteTarget, codec: Codec): Promise<Codec>
}

/** A response for the client: whole, or a stream that has begun. */
export type ReceivedResponse = WholeResponse | StreamedResponse

/** A response whose stream has begun. */
export interface StreamedResponse {
  kind: 'stream'
  head: UpstreamAnswer
  body: ByteStream
  committed: Committed
}

/** A response that was read to its end, a JSON object. */
export interface WholeResponse {
  kind: 'whole'
  head: UpstreamAnswer
  bytes: Uint8Array
  /** The parsed bytes. */
  json: JsonObject
  usage: TokenUsage | undefined
  /** What came in place of them, from a provider that streams whatever it is asked; `bytes` and `json` are empty then. */
  events?: readonly SseEvent[]
}

/** A call that brought no response for the client. */
export interface FailedResponse {
  kind: 'failure'
  failure: Failure
  /** The head of the provider's response, if there was one. */
  head?: UpstreamAnswer
  /** The response, if its only defect is that it is empty. */
  empty?: ReceivedResponse
}

/**
 * A stream whose first content has arrived: the chunks held back until then, and the watch that has seen them. Or one that has ended without
 * any: its watch has not `started`.
 */
export interface Committed {
  head: Uint8Array[]
  watch: StreamState
}

/** What relaying a stream depends on besides. */
export interface StreamTerms {
  onEnd(end: StreamEnd): void
  /** The credentials of the call, which must not reach the client. */
  secrets: readonly string[]
  /** The credentials of all connections, which are removed from an error. */
  knownKeys(): Promise<readonly string[]>
  /** How much text the stream may have. */
  maxStreamBytes: number
}

/** The stream for the client. */
export interface RelayedStream extends ByteStream {
  /** Ends the stream with an error event, even while nothing is read from it. */
  fail(error: unknown): void
}

/** What became of an attempt. */
export type Outcome = Answered | Failed

/**
 * An attempt that has an answer for the client. What lives as long as the stream must not hold it: its codec has the body of the request,
 * which may be large.
 */
export interface Answered {
  kind: 'answered'
  route: Route
  codec: Codec
  response: ReceivedResponse
  /** The bytes of a whole answer, in the client's format. */
  bytes: Uint8Array | undefined
  /** The credentials of the call, which must not reach the client. */
  secrets: readonly string[]
  log: AttemptLog
}

/** An attempt that has failed. */
export interface Failed {
  kind: 'failed'
  route: Route
  failure: Failure
  /** The head of the provider's response, if there was one. */
  head?: UpstreamAnswer
  /** The answer, if its only defect is that it is empty: the last resort when all answers are empty. */
  empty?: Answered
}

/** The targets of one request, as attempts and replies see them. */
export interface TargetSequence {
  /**
   * The next target; `undefined` when there is none, the client is at fault, or the attempts or the retry budget are used up. `hedge`: for an
   * attempt beside one that is under way.
   */
  next(options?: { hedge: boolean }): Promise<Target | undefined>
  /** The attempt at the latest target has begun. */
  begun(): void
  /** Takes note of a failed attempt. */
  failed(failed: Failed): void
  /** The last failure of each target that was tried. */
  readonly failures: readonly Failed[]
  /** Takes note of the route that answered, or of none. */
  settled(route: Route | undefined): Promise<void>
  verdict(): NoTarget
}

/** Why there is no next target. */
export interface NoTarget {
  /** Attempts or retries are used up. */
  stop: 'max-attempts' | 'retry-budget' | undefined
  /** The first route that no attempt was left for. */
  untried: Route | undefined
  /** The error of the first target whose format cannot carry the request. */
  refusal: GatewayError | undefined
  /** The targets that were passed over as they cool. */
  cooling: readonly CoolingTarget[]
  /** The routes that were passed over as their connections are draining. */
  draining: readonly Route[]
}

/** A cooling target, and when it recovers (epoch ms). */
export interface CoolingTarget {
  route: Route
  dueAt: number
  isFirm: boolean
}

/** What a call asks for, and how large the response may be. */
export interface Expected extends Pick<PipelineContext, 'clock' | 'limits'> {
  format: UpstreamFormat
  stream: boolean
  operation: Operation
}
