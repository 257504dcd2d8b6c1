import type { Exchange, Reply, UpstreamFetch } from '../lib/exchange.ts'
import { createExpiringMap } from '../lib/maps.ts'
import { once } from '../lib/promises.ts'
import { createItemMemory } from '../protocols/formats/canonical/item-memory.ts'
import type { Endpoint } from '../protocols/formats/format.ts'
import type { Operation } from '../protocols/formats/model-operations.ts'
import { codeSecretId } from '../records/code-records.ts'
import type { ConnectionRecord, Store } from '../records/store.ts'
import { createCredentialCache } from '../records/store.ts'
import type { Catalog, Clock, Storage } from '../types.ts'
import { createRuleApplier } from './choose/context-rules.ts'
import type { GroupRouting } from './choose/group-routing.ts'
import type { EndpointMemory } from './codec/codec.ts'
import { createKnownKeys } from './codec/secrets.ts'
import type { PipelineContext, PipelineLimits } from './context.ts'
import { LateEstimates } from './late-estimates.ts'
import { ModelLog } from './model-log.ts'
import type { RequestEvents } from './request-events.ts'
import { RequestLog, type ServedRoute } from './request-log.ts'
import { createHedgeBudget, createRetryBudget } from './routing/budget.ts'
import type { RouteTarget } from './routing/group.ts'
import type { GroupChooser } from './routing/group-chooser.ts'
import type { RouteTable } from './routing/route-table.ts'
import { createModelRouter } from './routing/route-table.ts'
import { createHealth, type Health } from './routing/target-health.ts'
import { createTargetStats } from './routing/target-stats.ts'
import { run } from './run.ts'
import type {
  AttemptStep,
  EncodeStep,
  HeaderCheck,
  PipelineSteps,
  RouteOrder,
  SelectiveCallStep,
  ServedRequest,
} from './steps.ts'

/** Handles model requests, and keeps the state that they share. */
export interface Pipeline {
  /** Starts the log of a request to a route, which ends with the request. */
  openLog(exchange: Exchange, route: Endpoint | ServedRoute): RequestLog
  /** Runs one request. Rejects with the error that the client gets. */
  serve(request: ServedRequest): Promise<Reply>
  /** Adds a feature's steps, inside the ones added earlier. */
  add(steps: PipelineSteps): void
  /** Returns everything that requests share, for a dry run. */
  getContext(): PipelineContext
  loadGroupRouting(): Promise<GroupChooser>
  /** Resolves to the current route table. Rejects with `STORAGE_FAILED`. */
  loadRoutes(): Promise<RouteTable>
  health: Health
  /** Call it once no request is in flight. */
  close(): Promise<void>
}

/** The pipeline's settings, and the parts that it shares with the rest of the gateway. */
export interface PipelineDependencies extends Pick<PipelineContext, SharedContextKey> {
  store: Store
  /** The storage in which instances share group state. If `undefined`, each instance keeps its own state in memory. */
  sharedStorage: Storage | undefined
  /** Returns the function that calls upstreams for a request, or the default function without a request. */
  upstream(exchange?: Exchange): UpstreamFetch
  /** The gateway's base path. */
  basePath: string
  /** The limits that the `limits` option sets. */
  ownLimits: Partial<PipelineLimits>
  events: RequestEvents
  /** Returns a snapshot of the catalog, for the costs of one request. */
  pinCatalog(): Catalog
}

type SharedContextKey =
  | ('catalog' | 'clock' | 'random' | 'limits' | 'bodyTime' | 'inFlight' | 'onError')
  | ('isStrict' | 'fetchesMedia' | 'includesStreamUsage' | 'readRequestSettings')

/** Creates the pipeline. Lazy-loads code that only some requests need. */
export function createPipeline(dependencies: PipelineDependencies): Pipeline {
  const { store, sharedStorage, upstream, basePath, ownLimits, events, ...later } = dependencies
  const { pinCatalog, ...others } = later
  const { catalog, clock, random, limits, bodyTime, inFlight, onError } = others
  const { isStrict, fetchesMedia, includesStreamUsage, readRequestSettings } = others
  const steps: Steps = { headerChecks: [], aroundCall: [], routeOrders: [], aroundAttempt: [], aroundEncode: [] }
  const targetStats = createTargetStats()
  const health = createHealth({ clock, random })
  const getApiKey = createCredentialCache(store)
  function findSource(connection: ConnectionRecord) {
    const secret = store.code.records.secrets.get(codeSecretId(connection))
    return typeof secret === 'string' ? undefined : secret
  }
  const loadSourcedCredentials = once(
    async () => new (await import('./upstream/sourced-credentials.ts')).SourcedCredentials(findSource, clock),
  )

  let loadedGroupRouting: GroupRouting | undefined
  const loadGroupRouting = once(async () => {
    const { createGroupRouting } = await import('./choose/group-routing.ts')
    loadedGroupRouting = createGroupRouting({ sharedStorage, targetStats, random, clock, onError })
    return loadedGroupRouting
  })
  const loadCloudCalls = once(async () => (await import('./upstream/clouds/cloud-calls.ts')).createCloudCalls(clock))
  const loadTranslation = once(async () => (await import('./codec/translating-codec.ts')).createTranslation(clock))
  const loadUsageRequests = once(async () => (await import('./codec/usage-request.ts')).createUsageRequests(clock))

  let context: PipelineContext = {
    ...{ catalog, clock, random, limits, bodyTime, inFlight, onError },
    ...{ isStrict, fetchesMedia, includesStreamUsage, readRequestSettings },
    ...steps,
    fetch: upstream(),
    loadRoutes: createModelRouter({ store, catalog, basePath }),
    readSettings: store.settings.read,
    withRules: createRuleApplier(health),
    getApiKey,
    loadSourcedCredentials: (connection) => findSource(connection) && loadSourcedCredentials(),
    knownKeys: createKnownKeys({ connections: () => store.connections.all(), getApiKey, clock }),
    createCloudCall: async (upstreamRequest, target) => (await loadCloudCalls())(upstreamRequest, target),
    retryBudget: createRetryBudget(clock),
    hedgeBudget: createHedgeBudget(),
    loadGroupRouting,
    loadTranslation,
    loadUsageRequests,
    estimates: new LateEstimates(),
    health,
    targetStats,
    missingEndpoints: createEndpointMemory(clock),
    items: createItemMemory(),
  }

  /**
   * Returns the context with the request's upstream function and its operation's limits. It is rebuilt only if the function changes, which is rare,
   * or if the operation has its own limits.
   */
  function getRouteContext({ exchange, route }: ServedRequest): PipelineContext {
    const { connectionId } = exchange.actsAs ?? {}
    const fetch = upstream(exchange)
    if (context.fetch !== fetch) context = { ...context, fetch }
    const { limits: operationLimits } = route.operation
    const operationContext = operationLimits
      ? { ...context, limits: { ...limits, ...operationLimits, ...ownLimits } }
      : context
    return connectionId === undefined
      ? operationContext
      : { ...operationContext, loadRoutes: () => loadConnectionRoutes(connectionId) }
  }

  async function loadConnectionRoutes(connectionId: string): Promise<RouteTable> {
    const { createConnectionTable } = await import('./one-connection.ts')
    return createConnectionTable(connectionId, { store, catalog, basePath })
  }

  const logContext = { clock, pinCatalog, targetStats, inFlight, events, onError }

  return {
    openLog(exchange, route) {
      const log = isEndpoint(route)
        ? new ModelLog(exchange, route, logContext)
        : new RequestLog(exchange, route, logContext)
      events.emit('arrived', exchange, log)
      return log
    },
    serve: (request) => run(request, getRouteContext(request)),
    add: (addedSteps) => addSteps(steps, addedSteps),
    getContext: () => context,
    loadGroupRouting,
    loadRoutes: context.loadRoutes,
    health,
    close: async () => loadedGroupRouting?.close(),
  }
}

/** The steps of all features, by what they wrap. */
interface Steps {
  headerChecks: HeaderCheck[]
  aroundCall: SelectiveCallStep[]
  routeOrders: RouteOrder[]
  aroundAttempt: AttemptStep[]
  aroundEncode: EncodeStep[]
}

function addSteps(steps: Steps, addedSteps: PipelineSteps): void {
  const {
    aroundCall: run,
    appliesToCall: appliesTo = () => true,
    orderRoutes,
    aroundAttempt,
    aroundEncode,
  } = addedSteps
  if (addedSteps.checkHeaders) steps.headerChecks.push(addedSteps.checkHeaders)
  if (run) steps.aroundCall.push({ run, appliesTo })
  if (orderRoutes) steps.routeOrders.push(orderRoutes)
  if (aroundAttempt) steps.aroundAttempt.push(aroundAttempt)
  if (aroundEncode) steps.aroundEncode.push(aroundEncode)
}

const MISSING_TTL_MS = 60 * 60 * 1_000
const MAX_MISSING_ENDPOINTS = 1_000

/** Returns whether the route calls a model. */
const isEndpoint = (route: Endpoint | ServedRoute): route is Endpoint => 'upstreamPath' in route

/** Remembers, in memory, which targets lack an operation's endpoint. */
function createEndpointMemory(clock: Pick<Clock, 'now'>): EndpointMemory {
  const missingEndpoints = createExpiringMap<true>({ clock, ttlMs: MISSING_TTL_MS, maxSize: MAX_MISSING_ENDPOINTS })
  const getMemoryKey = ({ connection, model }: RouteTarget, { name }: Operation) => `${name} ${connection.id} ${model}`
  return {
    isMissing: (target, operation) => missingEndpoints.get(getMemoryKey(target, operation)) === true,
    recordMissing: (target, operation) => missingEndpoints.set(getMemoryKey(target, operation), true),
  }
}
