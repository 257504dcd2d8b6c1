import { compose } from './compose.ts'
import { type CodeConfig, readCodeConfig } from './config/code-config.ts'
import { createCore } from './core.ts'
import { adaptFeature } from './extend.ts'
import type { BuiltInFeature, Feature, FeatureApi } from './feature.ts'
import { createAccessFeature } from './features/access/access-feature.ts'
import { createKeyWatch } from './features/access/key-watch.ts'
import { createAccountsFeature } from './features/accounts/accounts-feature.ts'
import { createCatalogFeature } from './features/catalog/catalog-feature.ts'
import { checkGuardRecords, createGuards, listCodeGuards } from './features/guards/guards-feature.ts'
import { createConcurrencyLimit } from './features/limits/concurrency.ts'
import type { Ledger } from './features/limits/ledger/ledger.ts'
import { createLimitsFeature } from './features/limits/limits-feature.ts'
import { createListingFeature } from './features/listing/listing-feature.ts'
import { createHooksFeature } from './features/observe/hooks.ts'
import { createObservers } from './features/observe/observers.ts'
import { createWaitingWarning } from './features/observe/waiting-warning.ts'
import { createPromptCachingFeature } from './features/prompt-caching/prompt-caching-feature.ts'
import { createRouteFeature } from './features/request-models/route-feature.ts'
import { createLazyTokens } from './features/tokens/lazy-tokens.ts'
import { createUsage } from './features/usage/usage-feature.ts'
import type { Exchange, Reply } from './lib/exchange.ts'
import { once } from './lib/promises.ts'
import { createManagementFeature } from './management/management-feature.ts'
import type { Management } from './management/operations.ts'
import { checkOptions, type GatewayOptions } from './options.ts'
import { createBusyWarning, getRuntimeName, isShortLived, isWorkers, platformFetch } from './platform.ts'
import type { Store } from './records/store.ts'
import type { AccountGateway, Internals } from './request/door/account-gateway.ts'
import { createPage } from './request/door/pages.ts'
import type { Authenticator, Identity } from './request/identity.ts'
import { createPipeline } from './request/pipeline.ts'

/**
 * A gateway: a request handler that you can mount, manage, and close. On Cloudflare Workers it is a plain object instead of a function, so
 * `export default gateway` works there; call `gateway.fetch`.
 */
export interface Gateway<Operations = unknown> {
  /** The same as `fetch`. */
  (request: Request | URL | string, ...platform: unknown[]): Promise<Response>
  /**
   * Responds to every request and never rejects; a path outside the gateway gets a 404. Works detached, and takes the arguments of `fetch`,
   * so a client in the same process needs no port: `new OpenAI({ fetch: gateway.fetch, … })`.
   */
  readonly fetch: Gateway<Operations>
  /** Like `fetch`, but resolves to `undefined` if the path isn't the gateway's, so your app can handle it. Never rejects. */
  handle(request: Request, ...platform: unknown[]): Promise<Response | undefined>
  /**
   * Returns whether the path of this request or URL belongs to the gateway. Below its `basePath`, these are `/health`, everything under `/v1`,
   * `/v1beta`, and `/api`, the endpoints `/v2/embed`, `/v2/rerank`, `/v3/ai/*`, and `/v4/ai/*`, and its pages, such as `/admin` and `/metrics`.
   */
  matches(request: Request | URL | string): boolean
  /**
   * The management operations, callable in process without a credential. They resolve to the HTTP API's results, and reject with a
   * `GatewayError` where it returns an error. Includes the operations of the features in `extend`.
   */
  readonly api: Management & Operations
  /**
   * Atomically replaces the records and settings that are defined in code; omitted sections become empty. In-flight requests and their streams finish
   * with the previous ones, and new requests use the new ones. Ignores all other options. Rejects with a TypeError, and changes nothing, where
   * `createGateway` would throw one.
   */
  reload(config: CodeConfig): Promise<void>
  /**
   * Responds to new requests with a 503, gives in-flight ones `graceMs` (default 10,000) to finish, aborts the rest, and waits up to ten
   * seconds for background work, such as your hooks. Doesn't close `storage`; close it yourself.
   */
  close(options?: { graceMs?: number }): Promise<void>
  /** The path that the gateway is mounted at, without a trailing slash. Empty for the root. */
  readonly basePath: string
  /**
   * For framework adapters: takes an exchange and resolves to a reply without building Fetch objects, or to `undefined` if the path isn't the
   * gateway's. `authenticator` identifies the caller, in place of the `identify` option. Never rejects.
   */
  exchange(exchange: Exchange, authenticator?: Authenticator): Promise<Reply | undefined>
  /**
   * Returns this gateway for the requests of one account that your app has authenticated: `gateway.as({ account: user.id }).fetch(request)`.
   * `identify` isn't called. Throws a TypeError if the identity is invalid.
   */
  as(identity: Identity): AccountGateway
  /** Returns the reply of `fetch` for a path that isn't the gateway's: 200 at the root, which tools probe, otherwise 404. */
  notFound(exchange: Exchange): Reply
}

/** Creates a gateway. Throws a TypeError for invalid options. Reads no data and makes no calls before the first request. */
export function createGateway<const Extend extends readonly Feature[] = []>(
  options: GatewayOptions<Extend>,
): Gateway<FeatureApi<Extend>> {
  checkOptions(options)
  return createGatewayWith(options).gateway as Gateway<FeatureApi<Extend>> // `api` contains all features' operations
}

/** Creates a gateway from checked options, and returns it with its store, its limit counters, and its features. */
export function createGatewayWith(
  options: GatewayOptions,
  internals: Internals = {},
): { gateway: Gateway; store: Store; ledger(): Promise<Ledger>; features: readonly BuiltInFeature[] } {
  const { dashboard, observe = [] } = options
  const core = createCore(options, internals)
  const pipeline = createPipeline({
    ...core,
    readRequestSettings: async (source) =>
      (await import('./features/request-models/request-settings.ts')).readRequestSettings(source),
  })

  const accounts = createAccountsFeature({
    ...{ ...core, options: options.accounts, maxAgeMs: core.limits.storeMaxAgeMs },
    prepareLimits: (account) => limits.prepareAccount(account),
  })
  const { publicOrigin } = options
  const tokens = createLazyTokens({ ...core, options, publicOrigin, accounts: accounts.accounts })
  const access = createAccessFeature(core.catalog)
  const usage = createUsage(core)
  const limits = createLimitsFeature({ ...core, usage: usage?.store })
  const listing = createListingFeature({ ...core, pipeline, access })
  const route = createRouteFeature(options, core)
  const catalogFeature = createCatalogFeature(core)
  const promptCaching = createPromptCachingFeature(core)
  const guards = createGuards(listCodeGuards(options.guards), {
    ...core,
    serve: (exchange) => gateway.exchange(exchange),
  })
  const management = createManagementFeature({
    ...core,
    ...{
      pipeline,
      features: () => features,
      options,
      route,
      promptCaching,
      getAccess: access.getAccess,
      previewLimits: limits.preview,
    },
    ...{
      published: listing.listPublished,
      ledger: limits.ledger,
      usage: usage?.store,
      accounts: accounts.accounts,
      tokens,
    },
    runtime: getRuntimeName(),
    liveCatalog: catalogFeature.live,
    serve: (exchange, authenticator) => gateway.exchange(exchange, authenticator),
  })

  const listedFeatures: Array<BuiltInFeature | undefined> = [
    guards,
    catalogFeature.feature,
    createConcurrencyLimit(core),
    (options.endRequestsOfPausedKeys ?? true) ? createKeyWatch(core) : undefined,
    createWaitingWarning({ ...core, warn: createBusyWarning(core.logger), platformFetch }),
    accounts,
    access,
    limits,
    listing,
    usage,
    createHooksFeature(core),
    management,
    dashboard && { name: 'dashboard', areas: [createPage(dashboard)] },
    ...createObservers(observe, { ...core, pipeline, getApi: () => management.api, isOneOfMany: isShortLived() }),
    ...(options.extend ?? []).map(adaptFeature),
    route,
    guards, // runs again, because a step may have chosen another combo
    promptCaching,
  ]
  const features = listedFeatures.filter((feature) => feature !== undefined)

  const gateway = compose({
    core,
    pipeline,
    features,
    ...{
      options,
      internals,
      accounts: accounts.accounts,
      findKeyAccount: accounts.findKeyAccount,
      addToken: internals.digestsSha256 ? undefined : tokens.addToken, // a cloud proxy has no accounts
      resume: management.resume,
    },
  })
  const reload = once(async () => {
    const { createReload } = await import('./config/reload.ts')
    return createReload({
      ...core,
      findCredentials: pipeline.getContext().loadSourcedCredentials,
      checkGuards: checkGuardRecords,
      read(config, now) {
        checkOptions(config)
        return readCodeConfig(
          { ...config, onRouteError: options.onRouteError ?? 'fail' },
          { catalog: core.catalog, now },
        )
      },
    })
  })
  const members = {
    ...gateway,
    api: management.api,
    async reload(config: CodeConfig) {
      core.assertOpen()
      await (await reload())(config)
    },
  }
  const callable = Object.assign(gateway.fetch, members) as Gateway // `fetch` is the gateway itself; its members are only set here
  return {
    gateway: isWorkers() ? ({ ...members, fetch: callable } as Gateway) : callable,
    store: core.store,
    ledger: limits.ledger,
    features,
  } // the doc comment of `Gateway` explains the difference
}
