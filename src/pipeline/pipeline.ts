import type { EndpointMemory } from '../codec/codec.ts'
import { createKnownKeys } from '../codec/secrets.ts'
import { createItemMemory } from '../formats/canonical/item-memory.ts'
import type { Endpoint } from '../formats/format.ts'
import type { Operation } from '../formats/operations.ts'
import type { Exchange, Reply, UpstreamFetch } from '../lib/exchange.ts'
import { createExpiringMap } from '../lib/maps.ts'
import { once } from '../lib/promises.ts'
import { createHedgeBudget, createRetryBudget } from '../routing/budget.ts'
import type { Choosing } from '../routing/choosing.ts'
import type { Explanation } from '../routing/explanation.ts'
import type { RouteTarget } from '../routing/group.ts'
import { createHealth, type Health } from '../routing/health.ts'
import type { RouteTable } from '../routing/route-table.ts'
import { createModelRouter } from '../routing/route-table.ts'
import { createTargetStats } from '../routing/target-stats.ts'
import type { Store } from '../store/store.ts'
import { createCredentials } from '../store/store.ts'
import type { Clock, Storage } from '../types.ts'
import type { PipelineContext, PipelineLimits } from './context.ts'
import type { Question } from './explain.ts'
import type { KeepRequest } from './kept-request.ts'
import { LateEstimates } from './late-estimates.ts'
import type { Live } from './live.ts'
import { RequestLog } from './request-log.ts'
import { run } from './run.ts'
import { type RequestStep, type ServedRequest, withSteps } from './steps.ts'
import type { GroupRouting } from './targets/groups.ts'
import { createRules } from './targets/rules.ts'

/** Answers model requests, and holds the state that they share. */
export interface Pipeline {
  /** Begins the log of a request to a model endpoint, which ends with the request. */
  openLog(exchange: Exchange, endpoint: Endpoint): RequestLog
  /** Runs one request within its steps. Rejects with what the client is to read as an error. */
  serve(request: ServedRequest): Promise<Reply>
  /** Explains how a request would be routed. */
  explain(question: Question): Promise<Explanation>
  choosing(): Promise<Choosing>
  /** The current route table. Rejects with `STORAGE_FAILED`. */
  routes(): Promise<RouteTable>
  health: Health
  /** Call it when no request is under way any more. */
  close(): Promise<void>
}

/** The settings of the pipeline, and what it shares with the rest of the gateway. */
export interface PipelineDependencies extends Pick<PipelineContext, Shared> {
  store: Store
  /** Where the instances share the state of groups; `undefined`: this one keeps its own in memory. */
  sharedIn: Storage | undefined
  /** The request's way to upstreams; without a request, that of those which bring none. */
  upstream(exchange?: Exchange): UpstreamFetch
  /** The path that the gateway is mounted below. */
  basePath: string
  /** Those of the limits that the host has set. */
  ownLimits: Partial<PipelineLimits>
  /** Keeps what became of requests; absent where nothing is kept. */
  keepRequest: KeepRequest | undefined
  /** The receiver of the live events of requests. */
  live: Live
  aroundRequest: readonly RequestStep[]
}

type Shared =
  | ('catalog' | 'clock' | 'random' | 'limits' | 'bodyTime' | 'inFlight' | 'observer' | 'follow')
  | ('isStrict' | 'fetchesMedia' | 'asksForUsage' | 'aroundAttempt' | 'ownTerms')

/** Makes the pipeline. What only some requests need is loaded with the first of them. */
export function createPipeline(dependencies: PipelineDependencies): Pipeline {
  const { store, sharedIn, upstream, basePath, ownLimits, keepRequest, live, aroundRequest, ...shared } = dependencies
  const { clock, random, catalog, observer } = shared
  const targetStats = createTargetStats()
  const health = createHealth({ clock, random })
  const apiKeyOf = createCredentials(store)

  let loadedChoosing: GroupRouting | undefined
  const choosing = once(async () => {
    const { createGroupRouting } = await import('./targets/groups.ts')
    loadedChoosing = createGroupRouting({ sharedIn, targetStats, random, clock, onError: observer.onError })
    return loadedChoosing
  })
  const clouds = once(async () => (await import('../upstream/clouds/cloud-calls.ts')).createCloudCalls(clock))
  const translation = once(async () => (await import('../codec/translated.ts')).createTranslation(clock))
  const usageQuestions = once(async () => (await import('../codec/usage-request.ts')).createUsageQuestions(clock))

  let context: PipelineContext = {
    ...shared,
    fetch: upstream(),
    routes: createModelRouter({ store, catalog, basePath }),
    settings: store.settings.read,
    underRules: createRules(health),
    apiKeyOf,
    knownKeys: createKnownKeys({ connections: () => store.connections.all(), apiKeyOf, clock }),
    cloudCall: async (ask, target) => (await clouds())(ask, target),
    retryBudget: createRetryBudget(clock),
    hedgeBudget: createHedgeBudget(),
    choosing,
    translation,
    usageQuestions,
    estimates: new LateEstimates(),
    health,
    targetStats,
    missingEndpoints: createEndpointMemory(clock),
    items: createItemMemory(),
  }

  /**
   * The context with the request's way to upstreams and the limits of its operation; made anew only when the way changes, which it hardly ever
   * does, or where the operation has limits of its own.
   */
  function contextFor({ exchange, endpoint }: ServedRequest): PipelineContext {
    const { connectionId } = exchange.actsAs ?? {}
    const fetch = upstream(exchange)
    if (context.fetch !== fetch) context = { ...context, fetch }
    const { limits } = endpoint.operation
    const own = limits ? { ...context, limits: { ...context.limits, ...limits, ...ownLimits } } : context
    return connectionId === undefined ? own : { ...own, routes: () => routesTo(connectionId) }
  }

  async function routesTo(connectionId: string): Promise<RouteTable> {
    const { tableOfConnection } = await import('./one-connection.ts')
    return tableOfConnection(connectionId, { store, catalog, basePath })
  }

  const logContext = { ...context, keepRequest, live }

  return {
    openLog: (exchange, endpoint) => new RequestLog(exchange, endpoint, logContext),
    serve: withSteps(aroundRequest, (request) => run(request, contextFor(request))),
    async explain(question) {
      const { explain } = await import('./explain.ts')
      return explain(question, context)
    },
    choosing,
    routes: context.routes,
    health,
    close: async () => loadedChoosing?.close(),
  }
}

const MISSING_KNOWN_MS = 60 * 60 * 1_000
const MAX_MISSING = 1_000

/** Remembers in memory which targets have no endpoint for an operation. */
function createEndpointMemory(clock: Pick<Clock, 'now'>): EndpointMemory {
  const missing = createExpiringMap<true>({ clock, ttlMs: MISSING_KNOWN_MS, max: MAX_MISSING })
  const keyOf = ({ connection, model }: RouteTarget, { name }: Operation) => `${name} ${connection.id} ${model}`
  return {
    isMissing: (target, operation) => missing.get(keyOf(target, operation)) === true,
    noteMissing: (target, operation) => missing.set(keyOf(target, operation), true),
  }
}
