import type { BuiltInFeature } from '../feature.ts'
import type { CloudOptions } from '../features/cloud-sync/gateway/cloud-operations.ts'
import type { GatewayObserver } from '../features/observe/observer.ts'
import type { UpstreamFetch } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'
import type { BodyTiming } from '../lib/timed-body.ts'
import type { ManagementOptions } from '../request/door/management-options.ts'
import type { Pipeline } from '../request/pipeline.ts'
import {
  createManagementApi,
  type ManagementApi,
  type ManagementApiDependencies,
  type ServingOptions,
} from './management-api.ts'

export interface ManagementFeatureDependencies
  extends Omit<ManagementApiDependencies, 'rotation' | 'routes' | 'health' | 'infoSources' | 'cloud' | 'limits'>,
    Pick<ServingOptions, 'basePath' | 'assertOpen' | 'onError'> {
  pipeline: Pick<Pipeline, 'loadRoutes' | 'health' | 'loadGroupRouting' | 'getContext'>
  options: {
    management?: ManagementOptions
    publicOrigin?: string
    cloud?: CloudOptions
    dashboard?: object
    observe?: readonly GatewayObserver[]
  }
  /** Returns all of the gateway's features. Call it only after they have been created. */
  features(): readonly BuiltInFeature[]
  random(): number
  upstream(): UpstreamFetch
  limits: ManagementApiDependencies['limits'] & { maxManagementBodyBytes: number }
  bodyTime: BodyTiming
  /** The runtime and its version, if known. */
  runtime: string
  inFlight: Pick<InFlight, 'values' | 'size'>
}

interface ManagementParts extends Pick<ServingOptions, 'operations' | 'resume'> {
  /** Returns when the gateway started, in epoch ms. */
  getStartTime(): number
}

/** Creates a gateway's management API from its features' shared dependencies. */
export function openManagement(
  deps: ManagementFeatureDependencies,
  { operations, getStartTime: startedAt, resume }: ManagementParts,
): ManagementApi {
  const { pipeline, options, features, upstream, random, startTimer, limits, inFlight, runtime, onError } = deps
  const { observe = [], dashboard, cloud = {}, management, publicOrigin } = options
  const { loadRoutes, health, loadGroupRouting } = pipeline
  return createManagementApi(
    {
      ...deps,
      ...{ routes: loadRoutes, health },
      rotation: { reset: async (group) => (await loadGroupRouting()).roundRobin.reset(group) },
      cloud: { fetch: upstream(), options: cloud, random, startTimer, onError },
      infoSources: {
        ...{ basePath: deps.basePath, runtime, getStartTime: startedAt },
        hasDashboard: dashboard !== undefined,
        observers: observe.length,
        pages: observe.flatMap(({ page }) => page?.path ?? []),
        countInFlight: () => inFlight.size,
      },
    },
    {
      ...{ management, publicOrigin, features: features(), operations, resume, onError },
      ...{ basePath: deps.basePath, assertOpen: deps.assertOpen },
      bodyLimits: { maxBytes: limits.maxManagementBodyBytes, timing: deps.bodyTime },
    },
  )
}
