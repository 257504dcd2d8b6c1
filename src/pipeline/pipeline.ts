import { createItemMemory } from '../formats/canonical/item-memory.ts'
import type { Endpoint } from '../formats/format.ts'
import type { Exchange, Reply, UpstreamFetch } from '../lib/exchange.ts'
import { createExpiringMap } from '../lib/maps.ts'
import { once } from '../lib/promises.ts'
import { createHedgeBudget, createRetryBudget } from '../routing/budget.ts'
import type { Choosing } from '../routing/choosing.ts'
import type { Explanation } from '../routing/explanation.ts'
import type { RouteTarget } from '../routing/group.ts'
import { createHealth, type Health } from '../routing/health.ts'
import type { RouteTable } from '../routing/table.ts'
import { createModelRouter } from '../routing/table.ts'
import { createTargetStats } from '../routing/target-stats.ts'
import type { PresentedKey } from '../store/keyring.ts'
import type { Store } from '../store/store.ts'
import { createCredentials } from '../store/store.ts'
import type { Clock, Storage } from '../types.ts'
import type { Question } from './explain.ts'
import { run } from './run.ts'
import { createKnownKeys } from './secrets.ts'
import { createRules } from './targets/rules.ts'
import type { CompactionMemory, GroupRouting, PipelineContext } from './types.ts'

/** What answers model requests, with the state that they share. */
export interface Pipeline {
  /** Runs one request; `pathModel`: the model's name, where the path has it. Rejects with what the client is to read as an error. */
  run(
    request: { exchange: Exchange; key?: PresentedKey | undefined },
    endpoint: Endpoint,
    pathModel?: string,
  ): Promise<Reply>
  /** What would become of a request. */
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
}

type Shared =
  | ('catalog' | 'clock' | 'random' | 'limits' | 'bodyTime' | 'inFlight' | 'observer')
  | ('isStrict' | 'fetchesMedia' | 'asksForUsage' | 'aroundAttempt')

/** Makes the pipeline. What only some requests need is loaded with the first of them. */
export function createPipeline({ store, sharedIn, upstream, basePath, ...shared }: PipelineDependencies): Pipeline {
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
  const clouds = once(async () => (await import('../upstream/clouds/calls.ts')).createCloudCalls(clock))
  const translation = once(async () => (await import('./codec/translated.ts')).createTranslation(clock))

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
    health,
    targetStats,
    compactions: createCompactionMemory(clock),
    items: createItemMemory(),
  }

  /** The context with the request's way to upstreams; made anew only when that changes, which it hardly ever does. */
  function contextFor(exchange: Exchange): PipelineContext {
    const fetch = upstream(exchange)
    if (context.fetch !== fetch) context = { ...context, fetch }
    return context
  }

  return {
    run: ({ exchange, key }, endpoint, pathModel) =>
      run(exchange, endpoint, { context: contextFor(exchange), key, pathModel }),
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

const COMPACTIONS_KNOWN_MS = 60 * 60 * 1_000
const MAX_COMPACTION_TARGETS = 1_000

/** Remembers in memory which targets cannot compact. */
function createCompactionMemory(clock: Pick<Clock, 'now'>): CompactionMemory {
  const lacking = createExpiringMap<true>({ clock, ttlMs: COMPACTIONS_KNOWN_MS, max: MAX_COMPACTION_TARGETS })
  const keyOf = ({ connection, model }: RouteTarget) => `${connection.id} ${model}`
  return {
    isLacking: (target) => lacking.get(keyOf(target)) === true,
    noteLacking: (target) => lacking.set(keyOf(target), true),
  }
}
