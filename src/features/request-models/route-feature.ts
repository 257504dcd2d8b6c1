import type { BuiltInFeature } from '../../feature.ts'
import { once } from '../../lib/promises.ts'
import type { RouteCall, RouteContext } from '../../request/route-call.ts'
import type { Clock } from '../../types.ts'
import type { Routing } from './run-route.ts'

/** The feature's options. */
export interface RouteFeatureOptions {
  route?: (request: RouteCall, context: RouteContext) => unknown
  onRouteError?: 'fail' | 'ignore'
}

/** The feature that calls the `route` function. */
export interface RouteFeature extends BuiltInFeature {
  /** Loads the code that calls the function. */
  load(): Promise<Routing>
}

/** Creates the feature if there is a `route` function. Its code loads with the first model request. */
export function createRouteFeature(
  options: RouteFeatureOptions,
  core: { clock: Clock; onError(error: unknown): void },
): RouteFeature | undefined {
  const load = once(async () => (await import('./run-route.ts')).createRouting(options, core))
  return (
    options.route && {
      name: 'route',
      load,
      aroundCall: async (call, next) => (await load()).handleCall(call, next),
    }
  )
}
