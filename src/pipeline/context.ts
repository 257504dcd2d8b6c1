import type { AskedRequest, CodecContext } from '../codec/codec.ts'
import type { ModelCall } from '../codec/model-call.ts'
import type { KnownKeys } from '../codec/secrets.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { BodyTime } from '../lib/timed-body.ts'
import type { HedgeBudget, RetryBudget } from '../routing/budget.ts'
import type { Group } from '../routing/group.ts'
import type { TargetHealth } from '../routing/health.ts'
import type { RouteTable } from '../routing/route-table.ts'
import type { TargetStats } from '../routing/target-stats.ts'
import type { StoredSettings } from '../store/settings.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { CloudCall } from '../upstream/request.ts'
import type { Follow } from './following.ts'
import type { Observer } from './hooks.ts'
import type { LateEstimates } from './late-estimates.ts'
import type { RequestLog } from './request-log.ts'
import type { AttemptStep } from './steps.ts'
import type { GroupRouting } from './targets/groups.ts'

/** The limits of one model request: sizes in bytes, times in ms. */
export interface PipelineLimits {
  /** Largest body of a model request; default 20 MiB. A larger one gets 413. */
  maxBodyBytes: number
  /** The same for an upload of sound; default 26 MiB. */
  maxAudioBytes: number
  /** The same for an upload of images, all of them together; default 64 MiB. */
  maxImageBytes: number
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

/** The inputs for reading the terms that a request brings itself. */
export interface OwnTermsSource {
  call: Pick<ModelCall, 'endpoint' | 'model' | 'body'>
  exchange: AskedRequest['exchange']
  context: PipelineContext
  table: RouteTable
  settings: StoredSettings
  log: Pick<RequestLog, 'nameRule'>
}

/** The terms that a request brings, besides what it asks its model. */
export interface OwnTerms {
  /** Its headers; what it says in their place in its body is among them. */
  exchange: AskedRequest['exchange']
  /** The models to ask in place of what its model name leads to. */
  list?: Group
  /** How long its client waits at most, in ms from the beginning of the request, and the member that says so. */
  timeout?: { ms: number; name: string }
}

/** Everything that model requests need from the rest of the gateway. */
export interface PipelineContext extends CodecContext {
  routes(): Promise<RouteTable>
  /** Rejects with `STORAGE_FAILED`. */
  settings(): Promise<StoredSettings>
  /** The context under the rules of the settings and of a combo. */
  underRules(context: PipelineContext, settings: StoredSettings, combo: Group | undefined): PipelineContext
  /** The terms that a request brings in its headers and its body. Rejects with what the client is to read as an error. */
  ownTerms(source: OwnTermsSource): Promise<OwnTerms>
  /** The connection's credential, decrypted; `undefined` when it has none. */
  apiKeyOf(connection: ConnectionRecord): Promise<string | undefined>
  /** The credentials of all connections that can be decrypted, for removal from errors and headers. */
  knownKeys: KnownKeys
  cloudCall: CloudCall
  /** Another number in [0, 1) with each call; not for secrets. */
  random(): number
  limits: PipelineLimits
  /** How long the body of a request may take. */
  bodyTime: BodyTime
  retryBudget: RetryBudget
  hedgeBudget: HedgeBudget
  /** How requests choose in groups; loaded with the first request that comes to one. */
  choosing(): Promise<GroupRouting>
  health: TargetHealth
  targetStats: TargetStats
  inFlight: InFlight
  observer: Observer
  estimates: LateEstimates
  /** Starts what follows a request; absent where nothing does. */
  follow: Follow | undefined
  aroundAttempt: readonly AttemptStep[]
}
