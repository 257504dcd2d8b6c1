import { deferredManagement } from './deferred-api.ts'
import { gatewayError } from './errors.ts'
import { elsewhereReply } from './http/elsewhere.ts'
import { exchangeOf, type FetchContext, requestOf, responseOf } from './http/fetch-bridge.ts'
import { managementErrorReply } from './http/management-error.ts'
import { modelRoutes } from './http/model-routes.ts'
import { modelsRoutes } from './http/models-routes.ts'
import { areaOf, below, normaliseBasePath } from './http/paths.ts'
import { createSurface } from './http/surface.ts'
import { createBackground } from './lib/background.ts'
import type { Exchange, Reply, UpstreamFetch } from './lib/exchange.ts'
import { createInFlight } from './lib/in-flight.ts'
import { isObject } from './lib/json.ts'
import { loadedOnce, once } from './lib/once.ts'
import { settlesWithin } from './lib/settles-within.ts'
import { deferredListing } from './listing/deferred.ts'
import type { Management } from './management/management.ts'
import { checkOptions, defaultLimits, type GatewayOptions } from './options.ts'
import type { PipelineContext } from './pipeline/context.ts'
import { createObserver } from './pipeline/observer.ts'
import { runModelRequest } from './pipeline/run.ts'
import { platformClock, platformFetch, platformRandom, silentLogger, takesTurns, turnEnd } from './platform.ts'
import { defaultCatalog } from './providers/catalog.ts'
import { createHedgeBudget, createRetryBudget } from './routing/budget.ts'
import { createHealth } from './routing/health.ts'
import { createModelRouter } from './routing/router.ts'
import { createTargetStats } from './routing/target-stats.ts'
import { createCredentials } from './store/credentials.ts'
import { createStore } from './store/store.ts'
import { createCloudCall } from './upstream/cloud-call.ts'

/**
 * A gateway: a request handler that can also be mounted, managed and closed. On Cloudflare Workers it is a plain object instead of a
 * function, so that `export default gateway` serves there; call `gateway.fetch`.
 */
export interface Gateway {
  /** The same as `fetch`. */
  (request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /**
   * Answers every request and never rejects; a path outside the gateway gets a 404. Needs no `this`. Takes the arguments of `fetch`, so
   * that a client in the same process needs no port: `new OpenAI({ fetch: gateway.fetch, … })`.
   */
  readonly fetch: Gateway
  /** The same, but resolves to `undefined` when the path is not the gateway's, so that the host keeps its own 404. Never rejects. */
  handle(request: Request, ...platform: unknown[]): Promise<Response | undefined>
  /** Is the path of this request or URL the gateway's: below its `basePath`, all of `/v1`, `/v1beta` and `/api`? */
  matches(request: Request | URL | string): boolean
  /**
   * The management operations in process, without credential. They resolve to what the HTTP API sends, and reject with a `GatewayError`
   * where it answers an error.
   */
  readonly api: Management
  /**
   * Answers new requests with 503, gives those under way `graceMs` (ms, default 10,000) to finish, aborts the rest, and waits for
   * background work, which is what hooks have begun, for at most ten seconds. Leaves `storage` open: the host closes it.
   */
  close(options?: { graceMs?: number }): Promise<void>
  /** The path that it is mounted at, without a trailing slash; empty for the root. */
  readonly basePath: string
  /**
   * What mounts call: takes an exchange and resolves to a reply, without building Fetch objects; `undefined` when the path is not the
   * gateway's. Never rejects.
   */
  exchange(exchange: Exchange): Promise<Reply | undefined>
  /** The reply of `fetch` for a path that is not the gateway's: 200 at the root, which tools probe, otherwise 404. */
  elsewhere(exchange: Exchange): Reply
}

/** Makes a gateway. Throws a TypeError on options that cannot work; nothing is read or called before the first request. */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options)
  const { storage, catalog = defaultCatalog, clock = platformClock } = options
  const limits = { ...defaultLimits, ...options.limits }
  const logger = options.logger === false ? silentLogger : (options.logger ?? console)
  const basePath = normaliseBasePath(options.basePath)
  const background = createBackground((error) => observer.onError(error))
  const observer = createObserver(options.hooks ?? {}, logger, background)
  const inFlight = createInFlight()
  let closed = false

  const store = createStore({ storage, clock, logger, secret: options.secret, maxAgeMs: limits.storeMaxAgeMs })
  const { sharedState = storage.atomic } = options
  const targetStats = createTargetStats()
  const health = createHealth({ clock, random: platformRandom })
  const choosing = loadedOnce(async () => {
    const { createChoosing } = await import('./pipeline/choosing.ts')
    const sharedIn = sharedState ? storage : undefined
    return createChoosing({ sharedIn, targetStats, health, random: platformRandom, clock, onError: observer.onError })
  })
  const upstream = (exchange: Exchange): UpstreamFetch => options.fetch ?? exchange.upstream ?? platformFetch
  const listing = deferredListing({
    store,
    catalog,
    clock,
    onError: observer.onError,
    lookupTimeoutMs: limits.lookupTimeoutMs,
  })
  const apiKeyOf = createCredentials(store)
  const knownKeys = once(async () => {
    const { createKnownKeys } = await import('./pipeline/known-keys.ts')
    return createKnownKeys({ connections: () => store.connections.all(), apiKeyOf, clock })
  })
  let pipeline: PipelineContext = {
    fetch: platformFetch,
    routes: createModelRouter({ store, catalog }),
    apiKeyOf,
    knownKeys: async () => (await knownKeys())(),
    cloudCall: createCloudCall(clock),
    clock,
    random: platformRandom,
    catalog,
    limits,
    retryBudget: createRetryBudget(clock),
    hedgeBudget: createHedgeBudget(),
    isStrict: options.strict ?? false,
    fetchesMedia: options.fetchMedia ?? true,
    choosing,
    health,
    targetStats,
    inFlight,
    observer,
    thoughts: once(async () => {
      const { createThoughtMemory } = await import('./formats/canonical/thought-memory.ts')
      return createThoughtMemory()
    }),
  }

  const api = deferredManagement(async () => {
    const [{ createManagement }, { explain }, { rotation }] = await Promise.all([
      import('./management/management.ts'),
      import('./pipeline/explain.ts'),
      choosing(),
    ])
    return createManagement({
      store,
      catalog,
      clock,
      rotation,
      health,
      explain: (request) => explain(request, pipeline),
    })
  })

  /** The context with the request's way to upstreams; made anew only when that changes, which it hardly ever does. */
  function pipelineFor(exchange: Exchange): PipelineContext {
    const fetch = upstream(exchange)
    if (pipeline.fetch !== fetch) pipeline = { ...pipeline, fetch }
    return pipeline
  }

  const managementGuard = once(async () => {
    const { createManagementGuard } = await import('./http/management-guard.ts')
    return createManagementGuard(options.management, { onError: observer.onError })
  })

  const surface = createSurface({
    clock,
    basePath,
    store,
    allowedOrigins: options.allowedOrigins ?? [],
    modelRoutes: [
      ...modelsRoutes(listing, { upstream }),
      ...modelRoutes(({ exchange, key }, endpoint, pathModel) =>
        runModelRequest(exchange, endpoint, { context: pipelineFor(exchange), key, pathModel }),
      ),
    ],
    async loadManagementRoutes() {
      const { managementRoutes } = await import('./http/management-routes.ts')
      return managementRoutes(api, { maxBodyBytes: limits.maxManagementBodyBytes })
    },
    guardManagement: async (exchange) => (await managementGuard())(exchange),
    isClosed: () => closed,
    onError: observer.onError,
  })

  const answer: typeof surface = takesTurns ? (exchange) => turnEnd().then(() => surface(exchange)) : surface

  async function gateway(request: Request | URL | string, ...platform: unknown[]): Promise<Response> {
    const asked = requestOf(request, platform[0])
    try {
      const exchange = exchangeOf(asked, contextOf(platform))
      return responseOf((await answer(exchange)) ?? elsewhereReply(exchange, basePath))
    } catch (error) {
      return unaddressed(error)
    }
  }

  async function handle(request: Request, ...platform: unknown[]): Promise<Response | undefined> {
    try {
      const reply = await answer(exchangeOf(request, contextOf(platform)))
      return reply && responseOf(reply)
    } catch (error) {
      return unaddressed(error)
    }
  }

  const unaddressed = (error: unknown) => responseOf(managementErrorReply(error, observer.onError))

  const members: Omit<Gateway, 'fetch'> & { fetch: typeof gateway } = {
    fetch: gateway,
    handle,
    matches: (request) => matches(basePath, request),
    api,
    basePath,
    exchange: surface,
    elsewhere: (exchange) => elsewhereReply(exchange, basePath),
    async close({ graceMs = 10_000 } = {}) {
      closed = true
      await inFlight.drain(clock, graceMs, gatewayError('CLOSED'))
      await settlesWithin(background.settled(), LAST_WORK_MS, clock)
      store.close()
    },
  }
  const callable = Object.assign(gateway, members) as Gateway // `fetch` is the gateway itself, which only now has its members
  return isWorkers() ? ({ ...members, fetch: callable } as Gateway) : callable // see `Gateway`
}

/** A hook that never ends must not keep the process. */
const LAST_WORK_MS = 10_000

/** Workers take an exported function for the class of a Durable Object, even one that has a `fetch` property. */
const isWorkers = () => 'navigator' in globalThis && navigator.userAgent === 'Cloudflare-Workers'

function matches(basePath: string, request: Request | URL | string): boolean {
  const url = typeof request === 'object' && 'url' in request ? request.url : request
  const path = URL.canParse(url, 'http://gateway')
    ? below(basePath, new URL(url, 'http://gateway').pathname)
    : undefined
  return path !== undefined && areaOf(path) !== undefined
}

/** The argument with `waitUntil`: Workers pass it third, other runtimes not at all. */
function contextOf(platform: unknown[]): FetchContext | undefined {
  return platform.find((part): part is FetchContext => isObject(part) && typeof part.waitUntil === 'function')
}
