import { createItemMemory } from '../formats/canonical/item-memory.ts'
import type { Endpoint } from '../formats/endpoint.ts'
import type { Awaitable } from '../lib/awaitable.ts'
import type { Exchange, Reply, UpstreamFetch } from '../lib/exchange.ts'
import { loadedOnce, once } from '../lib/once.ts'
import { createHedgeBudget, createRetryBudget } from '../routing/budget.ts'
import type { Explanation } from '../routing/explanation.ts'
import { createHealth, type Health } from '../routing/health.ts'
import { createModelRouter } from '../routing/router.ts'
import type { RouteTable } from '../routing/table.ts'
import { createTargetStats } from '../routing/target-stats.ts'
import { createCredentials } from '../store/credentials.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Store } from '../store/store.ts'
import type { Storage } from '../types.ts'
import { createCloudCall } from '../upstream/cloud-call.ts'
import type { Choosing } from './choosing.ts'
import { createCompactionMemory } from './compaction-memory.ts'
import type { PipelineContext } from './context.ts'
import type { Question } from './explain.ts'
import { createKnownKeys } from './known-keys.ts'
import { createRuling } from './ruled-context.ts'
import { runModelRequest } from './run.ts'

/** What answers model requests, with the state that they share. */
export interface Pipeline {
  /** Runs one request; `pathModel`: the model's name, where the path has it. Throws what the client is to read as an error. */
  run(
    request: { exchange: Exchange; key?: PresentedKey | undefined },
    endpoint: Endpoint,
    pathModel?: string,
  ): Promise<Reply>
  /** What would become of a request. */
  explain(question: Question): Promise<Explanation>
  choosing(): Awaitable<Choosing>
  /** The current route table. Rejects with `STORAGE_FAILED`. */
  routes(): Awaitable<RouteTable>
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
}

type Shared =
  | ('catalog' | 'clock' | 'random' | 'limits' | 'bodyTime' | 'inFlight' | 'observer')
  | ('isStrict' | 'fetchesMedia' | 'asksForUsage')

/** Makes the pipeline. What only some requests need is loaded with the first of them. */
export function createPipeline({ store, sharedIn, upstream, basePath, ...shared }: PipelineDependencies): Pipeline {
  const { clock, random, catalog, observer } = shared
  const targetStats = createTargetStats()
  const health = createHealth({ clock, random })
  const apiKeyOf = createCredentials(store)

  let loadedChoosing: Choosing | undefined
  const choosing = loadedOnce(async () => {
    const { createChoosing } = await import('./choosing.ts')
    loadedChoosing = createChoosing({ sharedIn, targetStats, random, clock, onError: observer.onError })
    return loadedChoosing
  })
  const thoughts = once(async () => {
    const { createThoughtMemory } = await import('../formats/canonical/thought-memory.ts')
    return createThoughtMemory()
  })
  const refusedOptions = once(async () => {
    const { createRefusedOptions } = await import('./refused-options.ts')
    return createRefusedOptions(clock)
  })

  let context: PipelineContext = {
    ...shared,
    fetch: upstream(),
    routes: createModelRouter({ store, catalog, basePath }),
    contextFor: createRuling({ settings: store.settings, health }),
    apiKeyOf,
    knownKeys: createKnownKeys({ connections: () => store.connections.all(), apiKeyOf, clock }),
    cloudCall: createCloudCall(clock),
    retryBudget: createRetryBudget(clock),
    hedgeBudget: createHedgeBudget(),
    choosing,
    health,
    targetStats,
    compactions: createCompactionMemory(clock),
    items: createItemMemory(),
    thoughts,
    refusedOptions,
  }

  /** The context with the request's way to upstreams; made anew only when that changes, which it hardly ever does. */
  function contextFor(exchange: Exchange): PipelineContext {
    const fetch = upstream(exchange)
    if (context.fetch !== fetch) context = { ...context, fetch }
    return context
  }

  return {
    run: ({ exchange, key }, endpoint, pathModel) =>
      runModelRequest(exchange, endpoint, { context: contextFor(exchange), key, pathModel }),
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
