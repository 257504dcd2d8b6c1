import type { InFlight } from '../lib/in-flight.ts'
import type { BodyTiming } from '../lib/timed-body.ts'
import type { ConnectionRecord } from '../records/store.ts'
import type { StoredSettings } from '../records/stored-settings.ts'
import type { GroupRouting } from './choose/group-routing.ts'
import type { CodecContext, CodecRequest } from './codec/codec.ts'
import type { ModelCall } from './codec/model-call.ts'
import type { KnownKeys } from './codec/secrets.ts'
import type { LateEstimates } from './late-estimates.ts'
import type { RequestLog } from './request-log.ts'
import type { HedgeBudget, RetryBudget } from './routing/budget.ts'
import type { Group } from './routing/group.ts'
import type { RouteTable } from './routing/route-table.ts'
import type { TargetHealth } from './routing/target-health.ts'
import type { TargetStats } from './routing/target-stats.ts'
import type { AttemptStep, EncodeStep, HeaderCheck, RouteOrder, SelectiveCallStep } from './steps.ts'
import type { SourcedCredentials } from './upstream/sourced-credentials.ts'
import type { CloudCall } from './upstream/upstream-request.ts'

/** Limits for a single model request: sizes in bytes, times in ms. */
export interface PipelineLimits {
  /** Maximum size of a model request body. Default: 20 MiB. Larger bodies get a 413. */
  maxBodyBytes: number
  /** Maximum size of an audio upload. Default: 26 MiB. */
  maxAudioBytes: number
  /** Maximum size of an image upload, all images combined. Default: 64 MiB. */
  maxImageBytes: number
  /**
   * Maximum time from the start of a request to the last byte of its body, including management requests, in ms. Default: 300,000. Slower requests
   * get a 408.
   */
  bodyTimeoutMs: number
  /** Maximum size of a non-streaming response. Default: 64 MiB. An attempt with a larger response fails. */
  maxResponseBytes: number
  /**
   * Maximum text in a stream. Default: 64 MiB. A stream that exceeds it ends with an error event. Without translation, text is estimated once the
   * stream has more bytes than this.
   */
  maxStreamBytes: number
  /**
   * Maximum concurrent model requests in this instance. Default: no limit. Excess requests get a 503 with `retry-after` before their body is read.
   */
  maxParallelRequests: number
  /** Maximum time from the start of an attempt to its response headers, or to a stream's first content, in ms. Default: 120,000. */
  headersTimeoutMs: number
  /** Maximum pause between two chunks of a response, in ms. Default: 60,000. */
  idleTimeoutMs: number
  /**
   * Maximum time from the start of an attempt to the last byte of a non-streaming response, in ms. Default: 600,000. Streams have no total timeout.
   */
  totalTimeoutMs: number
  /** Maximum attempts per request, across all targets. Default: 3. */
  maxAttempts: number
}

/** The inputs for reading a request's own settings. */
export interface RequestSettingsSource {
  call: Pick<ModelCall, 'endpoint' | 'model' | 'body'>
  exchange: CodecRequest['exchange']
  context: PipelineContext
  table: RouteTable
  settings: StoredSettings
  log: Pick<RequestLog, 'nameRules' | 'targetRules' | 'caller' | 'tags'>
}

/** The settings that a request contains in addition to the model call. */
export interface RequestSettings {
  /** The request's headers, including values that are in the body instead. */
  exchange: CodecRequest['exchange']
  /** The models to use instead of those that the model name resolves to. */
  list?: Group
  /** How long the client waits, in ms from the start of the request, and the field that sets this. */
  timeout?: { ms: number; name: string }
}

/** Everything that model requests need from the rest of the gateway. */
export interface PipelineContext extends CodecContext {
  loadRoutes(): Promise<RouteTable>
  /** Reads the settings. Rejects with `STORAGE_FAILED`. */
  readSettings(): Promise<StoredSettings>
  /** Returns the context with the rules from the settings and a combo applied. */
  withRules(context: PipelineContext, settings: StoredSettings, combo: Group | undefined): PipelineContext
  /** Reads the settings in a request's headers and body. Rejects with the error that the client gets. */
  readRequestSettings(source: RequestSettingsSource): Promise<RequestSettings>
  /** Returns the connection's credential, decrypted, or `undefined` if it has none. */
  getApiKey(connection: ConnectionRecord): Promise<string | undefined>
  /** Loads the credentials of connections whose `apiKey` is a function. Returns `undefined` for any other connection. */
  loadSourcedCredentials: (connection: ConnectionRecord) => Promise<SourcedCredentials> | undefined
  /** The credentials of all connections that can be decrypted, to redact them in errors and headers. */
  knownKeys: KnownKeys
  createCloudCall: CloudCall
  /** Returns a random number in [0, 1); not for secrets. */
  random(): number
  limits: PipelineLimits
  /** How long a client may take to send the request body. */
  bodyTime: BodyTiming
  retryBudget: RetryBudget
  hedgeBudget: HedgeBudget
  /** Lazy-loads the routing within groups. */
  loadGroupRouting(): Promise<GroupRouting>
  health: TargetHealth
  targetStats: TargetStats
  inFlight: InFlight
  onError(error: unknown): void
  estimates: LateEstimates
  headerChecks: readonly HeaderCheck[]
  aroundCall: readonly SelectiveCallStep[]
  routeOrders: readonly RouteOrder[]
  aroundAttempt: readonly AttemptStep[]
  aroundEncode: readonly EncodeStep[]
}
