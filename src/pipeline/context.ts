import type { ThoughtMemory } from '../formats/canonical/thought-memory.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { Budget } from '../routing/budget.ts'
import type { Chooser } from '../routing/chooser.ts'
import type { Health } from '../routing/health.ts'
import type { RouteTable } from '../routing/table.ts'
import type { TargetStats } from '../routing/target-stats.ts'
import type { ConnectionRecord } from '../store/store.ts'
import type { Catalog, Clock } from '../types.ts'
import type { CloudCall } from '../upstream/cloud-call.ts'
import type { Observer } from './observer.ts'

/** What limits a model request; all in ms or bytes. */
export interface PipelineLimits {
  maxBodyBytes: number
  /** Largest answer that does not stream. */
  maxAnswerBytes: number
  headersTimeoutMs: number
  silenceTimeoutMs: number
  /** For answers that do not stream, from the start of the attempt to their last byte. */
  totalTimeoutMs: number
  maxAttempts: number
}

/** Everything one model request needs from the outside. */
export interface PipelineContext {
  routes(): Awaitable<RouteTable>
  /** Opens a connection's credential. */
  apiKeyOf(connection: ConnectionRecord): Awaitable<string | undefined>
  /** The credentials of all connections, as far as they can be opened. */
  knownKeys(): Promise<readonly string[]>
  fetch: UpstreamFetch
  cloudCall: CloudCall
  clock: Clock
  /** Another number in [0, 1) with each call; not for secrets. */
  random(): number
  catalog: Catalog
  limits: PipelineLimits
  retryBudget: Budget
  hedgeBudget: Budget
  /** Is whatever a translation would lose refused? */
  isStrict: boolean
  chooser: Chooser
  health: Health
  targetStats: TargetStats
  inFlight: InFlight
  observer: Observer
  /** Loaded with the first translation. */
  thoughts(): Promise<ThoughtMemory>
}
