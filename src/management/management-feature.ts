import type { FeatureOperations } from '../admin/operation-table.ts'
import type { BuiltInFeature } from '../feature.ts'
import type { CloudOptions } from '../features/cloud-sync/gateway/cloud-operations.ts'
import { createCloudStart } from '../features/cloud-sync/gateway/cloud-start.ts'
import type { GatewayObserver } from '../features/observe/observer.ts'
import type { Exchange, UpstreamFetch } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'
import { once } from '../lib/promises.ts'
import type { BodyTime } from '../lib/timed-body.ts'
import type { ManagementOptions } from '../request/door/management-options.ts'
import type { Pipeline } from '../request/pipeline.ts'
import { deferManagement } from './deferred-management.ts'
import type { ManagementApiDependencies, ServingOptions } from './management-api.ts'
import type { Management } from './operations.ts'

interface ManagementFeatureDependencies
  extends Omit<ManagementApiDependencies, 'rotation' | 'routes' | 'health' | 'own' | 'cloud' | 'limits'>,
    Pick<ServingOptions, 'basePath' | 'admit' | 'onError'> {
  pipeline: Pick<Pipeline, 'routes' | 'health' | 'loadGroupRouting' | 'getContext'>
  options: {
    management?: ManagementOptions
    publicOrigin?: string
    cloud?: CloudOptions
    dashboard?: object
    observe?: readonly GatewayObserver[]
  }
  /** Returns all features of the gateway, after all of them were created. */
  features(): readonly BuiltInFeature[]
  random(): number
  upstream(): UpstreamFetch
  limits: ManagementApiDependencies['limits'] & { maxManagementBodyBytes: number }
  bodyTime: BodyTime
  /** The runtime and its version, if known. */
  runtime: string
  inFlight: Pick<InFlight, 'values' | 'size'>
}

/** The management API, in process and under `/api`. Its code is loaded on the first call. */
export interface ManagementFeature extends BuiltInFeature {
  readonly api: Management<unknown>
  /** Starts cloud sync on the first request, if it is on. */
  resume(exchange?: Exchange): Promise<void>
}

export function createManagementFeature(deps: ManagementFeatureDependencies): ManagementFeature {
  const {
    pipeline,
    options,
    features,
    upstream,
    random,
    startTimer,
    store,
    clock,
    limits,
    inFlight,
    runtime,
    onError,
  } = deps
  const { observe = [], dashboard, cloud = {}, management, publicOrigin } = options
  const getOperations = () => collectOperations(features())
  let endLive = () => {}
  const load = once(async () => {
    const { createManagementApi } = await import('./management-api.ts')
    const { routes, health, loadGroupRouting } = pipeline
    const created = createManagementApi(
      {
        ...deps,
        ...{ routes, health },
        rotation: { reset: async (group) => (await loadGroupRouting()).roundRobin.reset(group) },
        cloud: { fetch: upstream(), options: cloud, random, startTimer, onError },
        own: {
          ...{ basePath: deps.basePath, runtime },
          hasDashboard: dashboard !== undefined,
          observers: observe.length,
          pages: observe.flatMap(({ page }) => page?.path ?? []),
          startedAt: () => cloudStart.startedAt ?? clock.now(),
          inFlight: () => inFlight.size,
        },
      },
      {
        ...{ management, publicOrigin, features: features(), operations: getOperations(), resume, onError },
        ...{ basePath: deps.basePath, admit: deps.admit },
        bodyLimits: { maxBytes: limits.maxManagementBodyBytes, time: deps.bodyTime },
      },
    )
    cloudStart.pushes = created.pushes
    endLive = created.endLive
    return created
  })
  const cloudStart = createCloudStart({ settings: store.settings, clock, load })
  const { resume } = cloudStart
  const createApi = () =>
    deferManagement(async () => {
      const { api } = await load()
      await resume()
      return api
    }, getOperations())
  let api: ReturnType<typeof createApi> | undefined

  return {
    name: 'management',
    areas: [{ path: '/api', serve: async ({ path, exchange }) => (await load()).serve(path, exchange) }],
    get api() {
      api ??= createApi()
      return api
    },
    resume,
    async close() {
      endLive()
      await cloudStart.pushes?.close()
    },
  }
}

/** Returns the operations that features add to the management API. */
export const collectOperations = (features: readonly BuiltInFeature[]): FeatureOperations =>
  Object.assign({}, ...features.map(({ operations }) => operations)) // features define their operations with valibot schemas
