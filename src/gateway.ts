import { createPageGuards } from './admin/http/page-guards.ts'
import type { FeatureOperations } from './admin/operation-table.ts'
import { gatewayError } from './errors.ts'
import { createFeatureAreas, withReplies } from './extend.ts'
import type { Feature } from './feature.ts'
import { createAccess } from './features/access/access-feature.ts'
import { createKeyWatch } from './features/access/key-watch.ts'
import { createCloudStart } from './features/cloud-sync/gateway/cloud-start.ts'
import { accountRoutes } from './features/limits/account-routes.ts'
import { createConcurrencyLimit } from './features/limits/concurrency.ts'
import type { Ledger } from './features/limits/ledger/ledger.ts'
import { createLimits } from './features/limits/limits-feature.ts'
import { createListingRoutes, listingPaths } from './features/listing/listing-routes.ts'
import type { LookupCache } from './features/listing/look-up.ts'
import { createHooks, createReportError } from './features/observe/hooks.ts'
import type { GatewayFacts } from './features/observe/observer.ts'
import { createObserverFeature } from './features/observe/observer-listener.ts'
import { observerPage } from './features/observe/observer-page.ts'
import { createWaitingWarning } from './features/observe/waiting-warning.ts'
import { createUsageStore } from './features/usage/usage.ts'
import { createUsageFeature } from './features/usage/usage-feature.ts'
import { settlesWithin, startDeadline } from './lib/deadline.ts'
import type { Exchange, Reply, UpstreamFetch } from './lib/exchange.ts'
import { createInFlight } from './lib/in-flight.ts'
import { createBackground, once } from './lib/promises.ts'
import { deferManagement } from './management/deferred-management.ts'
import type { Management } from './management/operations.ts'
import { checkOptions, defaultLimits, type GatewayOptions } from './options.ts'
import {
  createBusyWarning,
  getLogger,
  holdsRefusedBodies,
  isShortLived,
  isWorkers,
  lingerBeforeClose,
  platformClock,
  platformCrypto,
  platformFetch,
  platformRandom,
  requestTurn,
  runtimeName,
  startIdleTimer,
  turnEnd,
} from './platform.ts'
import { endpoints } from './protocols/kinds/kinds.ts'
import { defaultCatalog } from './protocols/providers/catalog.ts'
import { createStore, type Store } from './records/store.ts'
import { getKeyCaller } from './request/caller.ts'
import { type AccountGateway, createAs, createIdentity, type Internals } from './request/door/account-gateway.ts'
import { createApp, elsewhereReply, normalizeBasePath } from './request/door/app.ts'
import { findArea, getPathBelow } from './request/door/area.ts'
import {
  checkAreas,
  createHealthArea,
  createManagementArea,
  createModelAreas,
  createPageArea,
} from './request/door/areas.ts'
import { authenticateClient } from './request/door/authenticate-client.ts'
import { listCallerFormats } from './request/door/caller-format.ts'
import { createFetchHandlers, type FetchHandlersOptions } from './request/door/fetch-bridge.ts'
import { createHealthCheck } from './request/door/health-check.ts'
import { serveWithKeys } from './request/door/key-area.ts'
import { modelRoutes } from './request/door/model-routes.ts'
import type { HttpRoute } from './request/door/router.ts'
import type { Identity } from './request/identity.ts'
import { createPipeline } from './request/pipeline.ts'
import { RequestEvents } from './request/request-events.ts'
import type { AttemptStep, CallStep, RequestStep } from './request/steps.ts'
import type { Kind } from './types.ts'

/**
 * A gateway: a request handler that you can mount, manage, and close. On Cloudflare Workers it is a plain object instead of a function, so
 * that `export default gateway` works there; call `gateway.fetch`.
 */
export interface Gateway {
  /** The same as `fetch`. */
  (request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /**
   * Responds to every request and never rejects; a path outside the gateway gets a 404. Works detached, and takes the arguments of `fetch`,
   * so a client in the same process needs no port: `new OpenAI({ fetch: gateway.fetch, … })`.
   */
  readonly fetch: Gateway
  /** Like `fetch`, but resolves to `undefined` if the path isn't the gateway's, so your app can handle it. Never rejects. */
  handle(request: Request, ...platform: unknown[]): Promise<Response | undefined>
  /**
   * Whether the path of this request or URL belongs to the gateway. Below its `basePath`, these are `/health`, everything under `/v1`, `/v1beta`, and
   * `/api`, the endpoints `/v2/embed`, `/v2/rerank`, `/v3/ai/*`, and `/v4/ai/*`, and its pages, such as `/admin` and `/metrics`.
   */
  matches(request: Request | URL | string): boolean
  /**
   * The management operations in process, without a credential. They resolve to what the HTTP API returns, and reject with a `GatewayError`
   * where it returns an error.
   */
  readonly api: Management
  /**
   * Responds to new requests with a 503, gives in-flight ones `graceMs` (default 10,000) to finish, aborts the rest, and waits up to ten
   * seconds for background work, such as your hooks. Doesn't close `storage`: you do.
   */
  close(options?: { graceMs?: number }): Promise<void>
  /** The path it is mounted at, without a trailing slash; empty for the root. */
  readonly basePath: string
  /**
   * For framework adapters: takes an exchange and resolves to a reply without building Fetch objects; `undefined` if the path isn't the
   * gateway's. Never rejects.
   */
  exchange(exchange: Exchange): Promise<Reply | undefined>
  /** What `fetch` replies for a path that isn't the gateway's: 200 at the root, which tools probe, otherwise 404. */
  elsewhere(exchange: Exchange): Reply
}

/** Creates a gateway. Throws a TypeError for options that can't work; reads and calls nothing before the first request. */
export function createGateway(options: GatewayOptions): Gateway {
  checkOptions(options)
  return createGatewayWith(options).gateway
}

/** A gateway of checked options, its store, and the counters of its limits. */
export function createGatewayWith(
  options: GatewayOptions,
  { digestsSha256 = false, afterCaller, identity: parts }: Internals = {},
): { gateway: Gateway; store: Store; ledger(): Promise<Ledger>; as(identity: Identity): AccountGateway } {
  const { storage, sharedState = storage.atomic, catalog = defaultCatalog, clock = platformClock } = options
  const limits = { ...defaultLimits, ...options.limits }
  const logger = getLogger(options.logger)
  const basePath = normalizeBasePath(options.basePath)
  const upstream = (exchange?: Exchange): UpstreamFetch => options.fetch ?? exchange?.upstream ?? platformFetch

  const hooks = options.hooks ?? {}
  const background = createBackground((error) => onError(error))
  const onError = createReportError(hooks, logger, background)
  const events = new RequestEvents({ background, onError })
  const inFlight = createInFlight()
  let isClosed = false
  let endLive = () => {}
  const admit = () => {
    if (isClosed) throw gatewayError('CLOSED')
  }

  const store = createStore({
    storage,
    clock,
    logger,
    secret: options.secret,
    maxAgeMs: limits.storeMaxAgeMs,
    syncCrypto: platformCrypto,
    digestsSha256,
    turnEnd,
    onError,
  })
  const listing = once(async () => {
    const { createListing } = await import('./features/listing/listing.ts')
    return createListing({
      store,
      catalog,
      clock,
      onError,
      findTargets: async (model) => (await pipeline.routes()).findTargets(model),
      lookupTimeoutMs: limits.lookupTimeoutMs,
    })
  })
  const startTimer = (ms: number, onTime: () => void) =>
    clock === platformClock ? startIdleTimer(ms, onTime) : startDeadline(clock, ms, onTime)
  const bodyTime = { clock, timeoutMs: limits.bodyTimeoutMs, turnEnd }
  const usage =
    (options.usage ?? storage.keepsUsage ?? true)
      ? createUsageStore({ ...store, clock, logger, settings: store.settings.read, startTimer, turnEnd, onError })
      : undefined
  const access = createAccess(catalog)
  const extensions = (options.extend ?? []).map(withReplies)
  const limiting = createLimits({
    store,
    clock,
    usage,
    admitsCalls: extensions.some(({ aroundCall }) => aroundCall),
    random: platformRandom,
    startTimer,
    turnEnd,
    onError,
  })
  const observers = options.observe ?? []
  const warnOfWaiting = createBusyWarning(logger)
  const features: readonly Feature[] = [
    ...(Number.isFinite(limits.maxParallelRequests)
      ? [createConcurrencyLimit(inFlight, limits.maxParallelRequests)]
      : []),
    ...((options.endRequestsOfPausedKeys ?? true)
      ? [createKeyWatch({ ...store, inFlight, clock, maxAgeMs: limits.storeMaxAgeMs })]
      : []),
    ...(warnOfWaiting ? [createWaitingWarning({ warn: warnOfWaiting, inFlight, upstream, platformFetch })] : []),
    access,
    limiting,
    ...(usage ? [createUsageFeature(usage)] : []),
    createHooks(hooks, logger, background),
    ...observers.map((observer) => createObserverFeature(observer, { background, onError })),
    ...extensions,
  ]
  for (const { events: listener } of features) if (listener) events.add(listener)
  const operations = Object.assign({}, ...extensions.map((feature) => feature.operations)) as FeatureOperations // whose schemas are valibot's

  const pipeline = createPipeline({
    store,
    sharedIn: sharedState ? storage : undefined,
    basePath,
    catalog,
    upstream,
    clock,
    random: platformRandom,
    limits,
    ownLimits: options.limits ?? {},
    bodyTime,
    isStrict: options.strict ?? false,
    fetchesMedia: options.fetchMedia ?? true,
    includesStreamUsage: options.includeStreamUsage ?? true,
    inFlight,
    events,
    onError,
    aroundCall: collectSteps(features, 'aroundCall'),
    aroundAttempt: collectSteps(features, 'aroundAttempt'),
    ownTerms: async (source) => (await import('./features/request-models/request-list.ts')).ownTerms(source),
  })
  const management = once(async () => {
    const { createManagementApi } = await import('./management/management-api.ts')
    const { routes, health, explain, choosing } = pipeline
    const cloud = { fetch: upstream(), options: options.cloud ?? {}, random: platformRandom, startTimer, onError }
    const published = async (kinds: readonly Kind[], cache?: LookupCache) =>
      (await listing()).list(kinds, upstream(), cache && { cache })
    const rotation = { reset: async (group: string) => (await choosing()).roundRobin.reset(group) }
    const made = createManagementApi(
      {
        store,
        catalog,
        clock,
        rotation,
        routes,
        published,
        health,
        limits,
        explain: async (question) => {
          const { key } = question
          if (!key) return explain(question)
          const caller = getKeyCaller(key)
          const [allowed, refusalOf] = await Promise.all([access.getAccess(caller), limiting.preview(caller)])
          return explain({ ...question, access: allowed, refusalOf })
        },
        ledger: limiting.ledger,
        turnEnd,
        cloud,
        usage,
        inFlight,
        events,
        startTimer,
        serve: (exchange) => app(exchange),
        own: {
          runtime: runtimeName(),
          basePath,
          hasDashboard: options.dashboard !== undefined,
          observers: observers.length,
          pages: observers.flatMap(({ page }) => page?.path ?? []),
          startedAt: () => cloudStart.startedAt ?? clock.now(),
          inFlight: () => inFlight.size,
        },
      },
      {
        management: options.management,
        limits: { maxBytes: limits.maxManagementBodyBytes, time: bodyTime },
        models: { endpoints, listingPaths, listCallerFormats, features: extensions },
        basePath,
        operations,
        admit,
        resume,
        onError,
      },
    )
    cloudStart.pushes = made.pushes
    endLive = made.endLive
    return made
  })
  const cloudStart = createCloudStart({ settings: store.settings, clock, load: management })
  const { resume } = cloudStart
  const api = deferManagement(async () => {
    const loaded = await management()
    await resume()
    return loaded.api
  }, operations)

  const facts: GatewayFacts = {
    isOneOfMany: isShortLived(),
    targets: async () => {
      const { getTargetFacts } = await import('./features/observe/gateway-facts.ts')
      return getTargetFacts(await pipeline.routes(), pipeline.health)
    },
    limits: async () => (await import('./features/observe/gateway-facts.ts')).getLimitFacts(api),
  }
  const pages = [
    ...(options.dashboard ? [options.dashboard] : []),
    ...observers.flatMap(({ page }) => (page ? [observerPage(page, facts)] : [])),
  ]
  const keyStore = { ...store, clock }
  const identity = parts && createIdentity(parts, { options, keyStore, limits })
  const serveRoutes = (routes: readonly HttpRoute[]) =>
    serveWithKeys(routes, {
      authenticate: (exchange, client) => authenticateClient(exchange, keyStore, client),
      ...(identity && { identity }),
      openLog: pipeline.openLog,
      aroundRequest: collectSteps(features, 'aroundRequest'),
      ...(afterCaller && { afterCaller }),
      admit,
      resume,
      onError,
    })
  const guards = createPageGuards(options.management, onError)
  const areas = [
    ...createModelAreas(
      serveRoutes([
        ...accountRoutes(limiting.account),
        ...createListingRoutes({
          listing,
          getReader: async (caller) => {
            const allowed = await access.getAccess(caller)
            if (!allowed) return undefined
            const table = await pipeline.routes()
            return {
              allowsKind: (kind) => allowed.allowsKind(kind),
              allowsModel: (model) => allowed.allowsModel(model, table),
            }
          },
          upstream,
        }),
        ...modelRoutes(pipeline.serve),
      ]),
    ),
    createManagementArea(async (path, exchange) => (await management()).serve(path, exchange), { admit, onError }),
    createHealthArea(createHealthCheck({ settings: store.settings, clock, isClosed: () => isClosed, onError })),
    ...pages.map((page) => createPageArea(page, guards, { admit, onError })),
    ...createFeatureAreas(extensions, { serve: serveRoutes, maxBodyBytes: limits.maxBodyBytes, time: bodyTime }),
  ]
  checkAreas(areas)
  const app = createApp({ basePath, areas, allowedOrigins: options.allowedOrigins ?? [] })
  const elsewhere = (exchange: Exchange) => elsewhereReply(exchange, { basePath, areas })
  const handlers: FetchHandlersOptions = {
    isOwnPath(path) {
      const below = getPathBelow(basePath, path)
      return below !== undefined && findArea(areas, below) !== undefined
    },
    elsewhere,
    begin: requestTurn,
    holdsRefused: holdsRefusedBodies,
    linger: lingerBeforeClose,
    onError,
  }
  const { gateway, handle, matches } = createFetchHandlers(app, handlers)

  const members: Omit<Gateway, 'fetch'> & { fetch: typeof gateway } = {
    fetch: gateway,
    handle,
    matches,
    api,
    basePath,
    exchange: app,
    elsewhere,
    async close({ graceMs = 10_000 } = {}) {
      isClosed = true
      await inFlight.drain(clock, graceMs, gatewayError('CLOSED'))
      endLive()
      const closing = features.map(async (feature) => feature.close?.())
      const lastWork = [background.settled(), pipeline.close(), cloudStart.pushes?.close(), ...closing]
      await settlesWithin(Promise.allSettled(lastWork), LAST_WORK_MS, clock)
      store.close()
    },
  }
  const callable = Object.assign(gateway, members) as Gateway // `fetch` is the gateway itself, which only now has its members
  return {
    gateway: isWorkers() ? ({ ...members, fetch: callable } as Gateway) : callable,
    store,
    ledger: limiting.ledger,
    as: createAs({ app, basePath, handlers }),
  } // see `Gateway`
}

/** The steps of one name of all features that have one. */
const collectSteps = <Name extends 'aroundRequest' | 'aroundCall' | 'aroundAttempt'>(
  features: readonly Feature[],
  name: Name,
): Array<StepTypes[Name]> =>
  features.flatMap((feature) => (feature[name]?.bind(feature) as StepTypes[Name] | undefined) ?? []) // replies only, by `withReplies`

interface StepTypes {
  aroundRequest: RequestStep
  aroundCall: CallStep
  aroundAttempt: AttemptStep
}

/** A hook that never ends must not keep the process. */
const LAST_WORK_MS = 10_000
