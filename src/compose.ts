import { createPageGuards } from './admin/http/page-guards.ts'
import type { Core } from './core.ts'
import { gatewayError } from './errors.ts'
import { checkAreas, checkNames, checkOperations, checkRoutes, createAreas, toHttpRoutes } from './extend.ts'
import type { BuiltInFeature } from './feature.ts'
import { settlesWithin } from './lib/deadline.ts'
import type { Exchange } from './lib/exchange.ts'
import { once } from './lib/promises.ts'
import type { GatewayOptions } from './options.ts'
import { holdsRejectedBodies, lingerBeforeClose, waitForBatch } from './platform.ts'
import { createAsMethod, createIdentityOptions, type Internals } from './request/door/account-gateway.ts'
import { type App, createApp, createNotFoundReply } from './request/door/app.ts'
import { findArea, getRelativePath } from './request/door/area.ts'
import { createHealthArea, createModelAreas } from './request/door/areas.ts'
import {
  type AddToken,
  authenticateClient,
  type KeyStore,
  listPresentedCredentials,
} from './request/door/authenticate-client.ts'
import { createFetchHandlers, type FetchHandlersOptions } from './request/door/fetch-bridge.ts'
import type { AccountFinder } from './request/door/identify-caller.ts'
import { type KeyAreaOptions, serveWithKeys } from './request/door/key-area.ts'
import { createModelRoutes } from './request/door/model-routes.ts'
import type { HttpRoute } from './request/door/router.ts'
import type { Pipeline } from './request/pipeline.ts'
import type { RequestStep } from './request/steps.ts'

interface Parts {
  core: Core
  pipeline: Pipeline
  features: readonly BuiltInFeature[]
  options: GatewayOptions
  internals: Internals
  accounts(): Promise<AccountFinder>
  /** Absent if tokens aren't accepted. */
  addToken: AddToken | undefined
  resume: NonNullable<KeyAreaOptions['resume']>
  findKeyAccount: NonNullable<KeyStore['findKeyAccount']>
}

/** Wires the request pipeline and the features into a gateway's handlers. Throws a TypeError if features conflict. */
export function compose({ core, pipeline, features, options, internals, ...parts }: Parts) {
  const { accounts, addToken, resume, findKeyAccount } = parts
  const { onCallerIdentified } = internals
  const { management, publicOrigin, allowedOrigins = [] } = options
  const { store, clock, limits, basePath, events, inFlight, background, bodyTime, assertOpen, isClosed, onError } = core
  const aroundRequest: RequestStep[] = []
  const loaders: Array<NonNullable<BuiltInFeature['loadEvents']>> = []
  for (const feature of features) {
    if (feature.events) events.add(feature.events)
    if (feature.loadEvents) loaders.push(feature.loadEvents)
    if (feature.aroundRequest) aroundRequest.push(feature.aroundRequest)
    pipeline.add(feature)
  }

  const { callers } = store
  if (callers)
    aroundRequest.push(({ exchange, caller }, next) => {
      const run = (work: Promise<void>) => background.run(work, exchange.waitUntil)
      if (caller.owner !== '' && !exchange.actsAs)
        callers.saveReadingList(caller, () => listPresentedCredentials(exchange), run)
      return next()
    })
  const keyStore = { ...store, clock, findKeyAccount, ...(addToken && { addToken }) }
  const identity = createIdentityOptions(internals.accounts ?? accounts, { options, keyStore, limits })
  const serveRoutes = (routes: readonly HttpRoute[]) =>
    serveWithKeys(routes, {
      authenticate: (exchange, client) => authenticateClient(exchange, keyStore, client),
      openLog: pipeline.openLog,
      aroundRequest,
      ...(onCallerIdentified && { onCallerIdentified }),
      ...{ identity, assertOpen, resume, onError },
    })
  const terms = { maxBodyBytes: limits.maxBodyBytes, timing: bodyTime }
  const servedModelRoutes = createModelRoutes(pipeline.serve)
  checkNames(features, options.extend)
  checkRoutes([{ name: 'models', routes: servedModelRoutes }, ...features])
  checkOperations(features)
  const routes = [...features.flatMap((feature) => toHttpRoutes(feature, terms)), ...servedModelRoutes]
  const health = once(async () => {
    const { createHealthCheck } = await import('./request/door/rare-routes.ts')
    return createHealthCheck({ settings: store.settings, clock, isClosed, onError })
  })
  const areas = [
    ...createModelAreas(serveRoutes(routes)),
    createHealthArea(async (exchange) => (await health())(exchange)),
    ...createAreas(features, {
      ...terms,
      serveRoutes,
      guards: createPageGuards(management, { onError, publicOrigin }),
      assertOpen,
      onError,
    }),
  ]
  checkAreas(areas)

  let isListening = loaders.length === 0
  const loadListeners = once(async () => {
    for (const listener of await Promise.all(loaders.map((load) => load()))) events.add(listener)
    isListening = true
  })
  const serveApp = createApp({ basePath, areas, allowedOrigins })
  const app: App = (...request) =>
    isListening
      ? serveApp(...request)
      : loadListeners()
          .catch(onError)
          .then(() => serveApp(...request))
  const notFound = (exchange: Exchange) => createNotFoundReply(exchange, { basePath, areas })
  const handlers: FetchHandlersOptions = {
    isGatewayPath(path) {
      const relativePath = getRelativePath(basePath, path)
      return relativePath !== undefined && findArea(areas, relativePath) !== undefined
    },
    notFound,
    beforeRequest: waitForBatch,
    holdsRejectedBodies,
    linger: lingerBeforeClose,
    onError,
  }
  const { fetch, handle, matches } = createFetchHandlers(app, handlers)
  return {
    fetch,
    ...{ handle, matches, basePath, notFound },
    exchange: app,
    as: createAsMethod({ app, basePath, handlers }),
    async close({ graceMs = 10_000 }: { graceMs?: number } = {}): Promise<void> {
      core.stopAdmitting()
      await inFlight.drain(clock, graceMs, gatewayError('CLOSED'))
      const closing = features.map(async (feature) => feature.close?.())
      await settlesWithin(
        Promise.allSettled([background.waitUntilIdle(), pipeline.close(), ...closing]),
        BACKGROUND_TIMEOUT_MS,
        clock,
      )
      store.close()
    },
  }
}

/** How long `close` waits for background work, in ms, so a hook that never settles can't keep the process alive. */
const BACKGROUND_TIMEOUT_MS = 10_000
