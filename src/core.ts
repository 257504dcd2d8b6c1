import { configSections } from './config/check-records.ts'
import { readCodeConfig } from './config/code-config.ts'
import { createDefaultStorage } from './default-storage.ts'
import { gatewayError } from './errors.ts'
import { isCatalogOptions } from './features/catalog/catalog-options.ts'
import { createReportError } from './features/observe/hooks.ts'
import { startDeadline } from './lib/deadline.ts'
import type { Exchange, UpstreamFetch } from './lib/exchange.ts'
import { createInFlight } from './lib/in-flight.ts'
import { createBackground } from './lib/promises.ts'
import { defaultLimits, type GatewayOptions } from './options.ts'
import {
  getLogger,
  nextTurn,
  platformClock,
  platformCrypto,
  platformFetch,
  platformRandom,
  startIdleTimer,
} from './platform.ts'
import { defaultCatalog } from './protocols/providers/catalog.ts'
import { createCodeLayer } from './records/code-records.ts'
import { createStore, type StoreOptions } from './records/store.ts'
import { normalizeBasePath } from './request/door/app.ts'
import { RequestEvents } from './request/request-events.ts'
import type { Catalog } from './types.ts'

/** A gateway's options with defaults applied, and everything its features share, such as the store, events, and in-flight requests. */
export type Core = ReturnType<typeof createCore>

export function createCore(options: GatewayOptions, { digestsSha256 = false }: Pick<StoreOptions, 'digestsSha256'>) {
  const {
    catalog: baseCatalog = defaultCatalog,
    clock = platformClock,
    hooks = {},
    limits: limitOptions = {},
  } = options
  const liveCatalogOptions = isCatalogOptions(baseCatalog)
    ? { options: baseCatalog, base: baseCatalog.base ?? defaultCatalog }
    : undefined
  const catalog = liveCatalogOptions ? { ...liveCatalogOptions.base } : (baseCatalog as Catalog) // copied, because the refresh replaces providers in it
  const limits = { ...defaultLimits, ...limitOptions }
  const logger = getLogger(options.logger)
  const storage = options.storage ?? createDefaultStorage(clock, logger)
  const { sharedState = storage.atomic } = options
  const background = createBackground((error) => onError(error))
  const onError = createReportError(hooks, logger, background)
  let isClosed = false

  const code = createCodeLayer()
  if (configSections.some((name) => options[name] !== undefined))
    code.records = readCodeConfig(options, { catalog, now: clock.now() })

  return {
    liveCatalog: liveCatalogOptions,
    /** Returns a snapshot of the catalog, because a request's prices must not change while it runs. */
    pinCatalog: (): Catalog => (liveCatalogOptions ? { ...catalog } : catalog),
    ...{ catalog, clock, limits, ownLimits: limitOptions, logger, hooks, background, onError, nextTurn },
    basePath: normalizeBasePath(options.basePath),
    store: createStore({
      ...{ storage, clock, logger, digestsSha256, nextTurn, onError },
      secret: options.secret,
      code,
      maxAgeMs: limits.storeMaxAgeMs,
      syncCrypto: platformCrypto,
    }),
    sharedStorage: sharedState ? storage : undefined,
    events: new RequestEvents({ background, onError }),
    inFlight: createInFlight(),
    random: platformRandom,
    /** Returns the function that calls providers. Background work has no `exchange`. */
    upstream: (exchange?: Exchange): UpstreamFetch => options.fetch ?? exchange?.upstream ?? platformFetch,
    startTimer: (ms: number, onExpire: () => void) =>
      clock === platformClock ? startIdleTimer(ms, onExpire) : startDeadline(clock, ms, onExpire),
    /** How long a client may take to send the request body. */
    bodyTime: { clock, timeoutMs: limits.bodyTimeoutMs, nextTurn },
    isStrict: options.strict ?? false,
    fetchesMedia: options.fetchMedia ?? true,
    includesStreamUsage: options.includeStreamUsage ?? true,
    storesUsage: options.usage ?? storage.keepsUsage ?? true,
    isClosed: () => isClosed,
    /** Throws `CLOSED` once the gateway has closed. */
    assertOpen() {
      if (isClosed) throw gatewayError('CLOSED')
    },
    /** Rejects new requests from now on. */
    stopAdmitting() {
      isClosed = true
    },
  }
}
