import type { ItemMemory } from '../formats/canonical/item-memory.ts'
import type { ThoughtMemory } from '../formats/canonical/thought-memory.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { BodyTime } from '../lib/timed-body.ts'
import type { HedgeBudget, RetryBudget } from '../routing/budget.ts'
import type { TargetHealth } from '../routing/health.ts'
import type { RouteTable } from '../routing/table.ts'
import type { TargetStats } from '../routing/target-stats.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Catalog, Clock } from '../types.ts'
import type { CloudCall } from '../upstream/cloud-call.ts'
import type { Choosing } from './choosing.ts'
import type { CompactionMemory } from './compaction-memory.ts'
import type { KnownKeys } from './known-keys.ts'
import type { Observer } from './observer.ts'
import type { RefusedOptions } from './refused-options.ts'
import type { ContextFor } from './ruled-context.ts'

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

/** Everything one model request needs from the outside. */
export interface PipelineContext {
  routes(): Awaitable<RouteTable>
  contextFor: ContextFor
  /** The connection's credential, decrypted; `undefined` when it has none. */
  apiKeyOf(connection: ConnectionRecord): Awaitable<string | undefined>
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
  /** Loaded with the first request that comes to a group. */
  choosing(): Awaitable<Choosing>
  health: TargetHealth
  targetStats: TargetStats
  inFlight: InFlight
  observer: Observer
  compactions: CompactionMemory
  /** What Responses clients may refer to by its id. */
  items: ItemMemory
  /** Loaded with the first translation. */
  thoughts(): Promise<ThoughtMemory>
  /** Loaded with the first translation. */
  refusedOptions(): Promise<RefusedOptions>
}
