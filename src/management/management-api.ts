import { checkRoutesOfFeatures, createFeatureApi } from '../admin/feature-operations.ts'
import { createManagementGuard } from '../admin/http/management-guard.ts'
import { createOperationRoutes, groupByRoute, readJsonBody } from '../admin/http/operation-routes.ts'
import { createTryRoute } from '../admin/http/try.ts'
import { type FeatureOperations, listOperations } from '../admin/operation-table.ts'
import { gatewayError } from '../errors.ts'
import type { BuiltInFeature } from '../feature.ts'
import type { Pushes } from '../features/cloud-sync/gateway/cloud-pushes.ts'
import { liveRoute } from '../features/live/live.ts'
import { type LiveDependencies, LiveFeed } from '../features/live/live-feed.ts'
import { liveUsageRoute } from '../features/live/usage-live.ts'
import type { Exchange, Reply } from '../lib/exchange.ts'
import { isObject } from '../lib/json.ts'
import type { BodyLimits } from '../lib/timed-body.ts'
import { VERSION } from '../lib/version.ts'
import { getWritableStore } from '../records/writable-store.ts'
import { ANONYMOUS_CALLER } from '../request/caller.ts'
import type { ManagementOptions } from '../request/door/management-options.ts'
import { createRouter } from '../request/door/router.ts'
import { createManagement, type ManagementDependencies } from './management.ts'
import { listServedOperations, type Management } from './operations.ts'
import { refreshReads } from './refresh-reads.ts'

export interface ManagementApiDependencies
  extends Omit<ManagementDependencies, 'openapi' | 'changed'>,
    Pick<LiveDependencies, 'inFlight' | 'events' | 'startTimer'> {}

/** The options for serving the management API. */
export interface ServingOptions {
  /** Which requests may call the API. Default: none. */
  management: ManagementOptions | undefined
  publicOrigin: string | undefined
  bodyLimits: BodyLimits
  basePath: string
  /** All of the gateway's features, and the operations that they add. */
  features: readonly BuiltInFeature[]
  operations: FeatureOperations
  assertOpen(): void
  resume(exchange: Exchange): Promise<void>
  onError(error: unknown): void
}

/** The management API, in process and under `/api`. */
export interface ManagementApi {
  api: Management<unknown>
  /** Sends the operations' changes to the cloud proxy. */
  pushes: Pushes
  /** Ends the live event streams. */
  endLive(): void
  /** Rejects with the error that the guard or an operation throws. */
  serve(path: string, exchange: Exchange): Promise<Reply>
}

/** Creates the management API. This file is loaded on first use, because gateways that only route requests never need it. */
export function createManagementApi(
  deps: ManagementApiDependencies,
  {
    management,
    publicOrigin,
    bodyLimits: limits,
    basePath,
    features,
    operations: featureOperations,
    assertOpen,
    resume,
    onError,
  }: ServingOptions,
): ManagementApi {
  const operations = listServedOperations()
  const addedOperations = listOperations(featureOperations)
  checkRoutesOfFeatures(addedOperations, operations)
  const routes = groupByRoute([...operations, ...addedOperations])

  async function openapi() {
    const [{ describeGateway }, { resultTypes }] = await Promise.all([
      import('../admin/http/openapi/document.ts'),
      import('../admin/http/openapi/result-types.data.ts'),
    ])
    const isOpen = management !== undefined && 'dangerouslyAllowUnauthenticated' in management
    return describeGateway({ routes, features, version: VERSION, basePath, resultTypes, isOpen })
  }

  const feed = new LiveFeed({ ...deps, onError })
  const { api: inProcessApi, pushes } = createManagement({
    ...deps,
    openapi,
    changed: (...change) => feed.emitChanged(...change),
  })
  const store = getWritableStore(deps.store, deps.clock)
  const api = { ...refreshReads(inProcessApi, store), ...createFeatureApi(featureOperations) }
  const guard = createManagementGuard(management, { onError, publicOrigin })
  const tryRoute = createTryRoute({ ...deps, basePath, readBody: (exchange) => readJsonBody(exchange, limits) })
  const liveRoutes = [liveRoute(feed), liveUsageRoute(deps.usage)]
  const routers = {
    manage: createRouter([
      ...liveRoutes,
      tryRoute,
      ...createOperationRoutes(routes, { api, records: inProcessApi, limits, store }),
    ]),
    read: createRouter([
      ...liveRoutes,
      ...createOperationRoutes(routes, { api: hideSecrets(api), limits, store: undefined }),
    ]),
  }
  return {
    api,
    pushes,
    endLive: () => feed.close(),
    async serve(path, exchange) {
      const router = routers[await guard(exchange)]
      assertOpen()
      await resume(exchange)
      const route = router.findExact(exchange, path) ?? (await router.findByPattern(exchange, path))
      const reply = route.run({ exchange, caller: ANONYMOUS_CALLER })
      if (exchange.method !== 'GET') exchange.waitUntil?.(reply.catch(() => {}).then(() => pushes.waitUntilIdle()))
      return reply
    },
  }
}

/** Returns the operations for read-only callers, without key values or raw stored records. */
function hideSecrets(api: Management<unknown>): Management<unknown> {
  const hideValues = (query: unknown) => (isObject(query) ? { ...query, values: 'none' } : query)
  const keys = {
    ...api.keys,
    list: (query: unknown = {}) => api.keys.list(hideValues(query)),
    get: (id: string, view: unknown = {}) => api.keys.get(id, hideValues(view)),
  } as Management<unknown>['keys'] // over HTTP, both always take a query
  const get = () => {
    throw gatewayError('FORBIDDEN', {
      message: 'This token is read-only and cannot read raw stored records. Use the admin token.',
    })
  }
  const info = async () => ({ ...(await api.info()), canWrite: false })
  return { ...api, keys, info, damagedRecords: { ...api.damagedRecords, get } }
}
