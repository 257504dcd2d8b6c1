import { gatewayError } from './errors.ts'
import { gateStep } from './gate/step.ts'
import { createApp, elsewhereReply, isOurs, normaliseBasePath, type Step } from './http/app.ts'
import { callerFormatsOf } from './http/caller-format.ts'
import { createFetchHandlers } from './http/fetch.ts'
import { createHealthCheck } from './http/health-check.ts'
import { listingPaths, modelsRoutes } from './http/listing-routes.ts'
import { modelRoutes } from './http/model-routes.ts'
import { observerPage, type PageGuards } from './http/pages.ts'
import { endpoints } from './kinds/kinds.ts'
import { settlesWithin, startDeadline } from './lib/deadline.ts'
import type { Exchange, Reply, UpstreamFetch } from './lib/exchange.ts'
import { createInFlight, type InFlight } from './lib/in-flight.ts'
import { createBackground, once } from './lib/promises.ts'
import type { Ledger } from './limits/ledger.ts'
import type { ListReader } from './listing/listing.ts'
import type { LookUpCache } from './listing/look-up.ts'
import { createCloudStart } from './management/cloud-start.ts'
import { deferredManagement } from './management/deferred.ts'
import type { Management } from './management/operations.ts'
import { checkOptions, defaultLimits, type GatewayOptions } from './options.ts'
import { createFollow } from './pipeline/following.ts'
import { createObserver } from './pipeline/hooks.ts'
import type { Live } from './pipeline/live.ts'
import type { GatewayFacts } from './pipeline/observing.ts'
import { createPipeline, type Pipeline } from './pipeline/pipeline.ts'
import type { AttemptStep, RequestStep } from './pipeline/steps.ts'
import {
  createWaitingWarning,
  holdsRefusedBodies,
  isShortLived,
  isWorkers,
  lingerBeforeClose,
  loggerFor,
  platformClock,
  platformCrypto,
  platformFetch,
  platformRandom,
  requestTurn,
  runtimeName,
  startIdleTimer,
  turnEnd,
} from './platform.ts'
import { defaultCatalog } from './providers/catalog.ts'
import { createKeyWatch, type KeyWatch, type PresentedKey } from './store/keyring.ts'
import { createStore, type Store, type StoreOptions } from './store/store.ts'
import type { Catalog, Kind } from './types.ts'
import { keepUsage } from './usage/kept/usage.ts'

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
  /** Is the path of this request or URL the gateway's: below its `basePath`, `/health` and all of `/v1`, `/v1beta` and `/api`? */
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
  return createGatewayWith(options, NO_STEPS).gateway
}

/** What stands between the parts of the gateway, in order. */
export interface Steps {
  /** After the client key of any request under `/v1` and `/v1beta`, and before its route. */
  afterKey: readonly Step[]
  /** Around each request to a model endpoint, after its key and its route: limits. */
  aroundRequest: readonly RequestStep[]
  /** Around each attempt, until it has settled: what is reserved before it and settled after it. */
  aroundAttempt: readonly AttemptStep[]
}

export const NO_STEPS: Steps = { afterKey: [], aroundRequest: [], aroundAttempt: [] }

/** A gateway of checked options, with steps of features that are no options, its store, and the counters of its limits. */
export function createGatewayWith(
  options: GatewayOptions,
  steps: Steps,
  { filesBySha256 = false }: Pick<StoreOptions, 'filesBySha256'> = {},
): { gateway: Gateway; store: Store; ledger(): Promise<Ledger> } {
  const { storage, sharedState = storage.atomic, catalog = defaultCatalog, clock = platformClock } = options
  const limits = { ...defaultLimits, ...options.limits }
  const logger = loggerFor(options.logger)
  const basePath = normaliseBasePath(options.basePath)
  const upstream = (exchange?: Exchange): UpstreamFetch => options.fetch ?? exchange?.upstream ?? platformFetch

  const background = createBackground((error) => onError(error))
  const observer = createObserver(options.hooks ?? {}, logger, background)
  const { onError } = observer
  const observers = options.observe ?? []
  const follow = createFollow(observers, { background, onError })
  const inFlight = createInFlight()
  let isClosed = false
  const admit = () => {
    if (isClosed) throw gatewayError('CLOSED')
  }

  const store = createStore({
    storage,
    clock,
    logger,
    secret: options.secret,
    maxAgeMs: limits.storeMaxAgeMs,
    cryptoInPlace: platformCrypto,
    filesBySha256,
    turnEnd,
    onError,
  })
  const listing = once(async () => {
    const { createListing } = await import('./listing/listing.ts')
    return createListing({
      store,
      catalog,
      clock,
      onError,
      targetsOf: async (model) => (await pipeline.routes()).targetsOf(model),
      lookupTimeoutMs: limits.lookupTimeoutMs,
    })
  })
  const keyWatch =
    (options.endRequestsOfPausedKeys ?? true)
      ? createKeyWatch({ ...store, inFlight, clock, maxAgeMs: limits.storeMaxAgeMs })
      : undefined
  const warnOfWaiting = createWaitingWarning(logger)
  const startTimer = (ms: number, onTime: () => void) =>
    clock === platformClock ? startIdleTimer(ms, onTime) : startDeadline(clock, ms, onTime)
  let openLedger: Ledger | undefined
  const ledger = once(async () => {
    const { createLedger } = await import('./limits/ledger.ts')
    openLedger = createLedger({ storage: store.storage, clock, random: platformRandom, startTimer, turnEnd, onError })
    return openLedger
  })
  const gate = once(async () => {
    const [{ createGate }, opened] = await Promise.all([import('./gate/gate.ts'), ledger()])
    return createGate({ ledger: opened, clock, catalog })
  })
  const bodyTime = { clock, timeoutMs: limits.bodyTimeoutMs, turnEnd }
  const keptUsage =
    (options.usage ?? storage.keepsUsage ?? true)
      ? keepUsage({ ...store, clock, logger, settings: store.settings.read, startTimer, onError })
      : undefined
  const live: Live = {}
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
    asksForUsage: options.askForUsage ?? true,
    inFlight,
    observer,
    follow,
    keepRequest: keptUsage?.keep,
    live,
    aroundRequest: [
      limitConcurrency(inFlight, limits.maxConcurrent),
      ...(keyWatch ? [watchKey(keyWatch)] : []),
      ...(warnOfWaiting ? [warnOfWaitingCalls(warnOfWaiting, inFlight, upstream)] : []),
      gateStep({ settings: store.settings.read, load: gate }),
      ...steps.aroundRequest,
    ],
    aroundAttempt: steps.aroundAttempt,
    ownTerms: async (source) => (await import('./gate/request-list.ts')).ownTerms(source),
  })
  const management = once(async () => {
    const { createManagementApi } = await import('./http/management.ts')
    const { routes, health, explain, choosing } = pipeline
    const cloud = { fetch: upstream(), options: options.cloud ?? {}, random: platformRandom, startTimer, onError }
    const published = async (kinds: readonly Kind[], cache?: LookUpCache) =>
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
        explain,
        ledger,
        turnEnd,
        cloud,
        usage: keptUsage,
        inFlight,
        live,
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
        models: { endpoints, listingPaths, callerFormatsOf },
        basePath,
        admit,
        resume,
        onError,
      },
    )
    cloudStart.pushes = made.pushes
    return made
  })
  const cloudStart = createCloudStart({ settings: store.settings, clock, load: management })
  const { resume } = cloudStart
  const api = deferredManagement(async () => {
    const loaded = await management()
    await resume()
    return loaded.api
  })

  const facts: GatewayFacts = {
    isOneOfMany: isShortLived(),
    targets: async () => {
      const { targetFacts } = await import('./observe/facts.ts')
      return targetFacts(await pipeline.routes(), pipeline.health)
    },
    limits: async () => (await import('./observe/facts.ts')).limitFacts(api),
  }
  const pages = [
    ...(options.dashboard ? [options.dashboard] : []),
    ...observers.flatMap(({ page }) => (page ? [observerPage(page, facts)] : [])),
  ]
  const app = createApp({
    basePath,
    store: { ...store, clock },
    allowedOrigins: options.allowedOrigins ?? [],
    modelRoutes: [
      ...modelsRoutes({ listing, readerOf: readersOf(catalog, () => pipeline.routes()), upstream }),
      ...modelRoutes(pipeline.serve),
    ],
    openLog: pipeline.openLog,
    afterKey: steps.afterKey,
    manage: async (path, exchange) => (await management()).serve(path, exchange),
    pages: { mounted: pages, guards: guardsOfPages(options.management, onError) },
    health: createHealthCheck({ settings: store.settings, clock, isClosed: () => isClosed, onError }),
    admit,
    resume,
    onError,
  })
  const elsewhere = (exchange: Exchange) => elsewhereReply(exchange, basePath)
  const { gateway, handle, matches } = createFetchHandlers(app, {
    isOwnPath: (path) => isOurs(path, basePath, pages),
    elsewhere,
    begin: requestTurn,
    holdsRefused: holdsRefusedBodies,
    linger: lingerBeforeClose,
    onError,
  })

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
      live.end?.()
      const mirroring = cloudStart.pushes?.close()
      const lastWork = [background.settled(), pipeline.close(), mirroring, openLedger?.close(), keptUsage?.close()]
      await settlesWithin(Promise.all(lastWork), LAST_WORK_MS, clock)
      keyWatch?.close()
      store.close()
    },
  }
  const callable = Object.assign(gateway, members) as Gateway // `fetch` is the gateway itself, which only now has its members
  return { gateway: isWorkers() ? ({ ...members, fetch: callable } as Gateway) : callable, store, ledger } // see `Gateway`
}

/** Says which models a key may read of the listing; `undefined`: all of them. */
const readersOf =
  (catalog: Catalog, routes: Pipeline['routes']) =>
  async (key: PresentedKey | undefined): Promise<ListReader | undefined> => {
    const { accessOf } = await import('./routing/allowed-models.ts')
    const access = accessOf(key, catalog)
    if (!access) return undefined
    const table = await routes()
    return {
      allowsKind: (kind) => access.allowsKind(kind),
      allowsModel: (model) => access.allowsModel(model, table),
    }
  }

/** The guards of pages, loaded with the first request for one. */
function guardsOfPages(management: GatewayOptions['management'], onError: (error: unknown) => void): PageGuards {
  const guards = once(async () => {
    const { createPageGuards } = await import('./http/management-guard.ts')
    return createPageGuards(management, { onError })
  })
  return {
    host: async (exchange) => (await guards()).host(exchange),
    management: async (exchange) => (await guards()).management(exchange),
    token: async (exchange, token) => (await guards()).token(exchange, token),
  }
}

/** Refuses a request while as many are under way as may be at once. */
const limitConcurrency =
  (inFlight: InFlight, max: number): RequestStep =>
  (_, next) => {
    if (inFlight.size > max) throw gatewayError('TOO_BUSY', { headers: { 'retry-after': '1' } })
    return next()
  }

/** Lets the key of a request be watched, which ends the request when the key is paused or deleted. */
const watchKey =
  (keyWatch: KeyWatch): RequestStep =>
  ({ key }, next) => {
    if (key) keyWatch.begun()
    return next()
  }

/** Warns when more calls are under way than the platform makes at once. */
const warnOfWaitingCalls =
  (
    warn: (requests: number) => void,
    inFlight: InFlight,
    upstream: (exchange: Exchange) => UpstreamFetch,
  ): RequestStep =>
  ({ exchange }, next) => {
    if (upstream(exchange) === platformFetch) warn(inFlight.size)
    return next()
  }

/** A hook that never ends must not keep the process. */
const LAST_WORK_MS = 10_000
