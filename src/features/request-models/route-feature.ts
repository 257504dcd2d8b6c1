import type { Feature } from '../../feature.ts'
import type { Reply } from '../../lib/exchange.ts'
import { once } from '../../lib/promises.ts'
import type { CallRequest } from '../../request/feature-requests.ts'
import type { RouteCall, RouteContext } from '../../request/route-call.ts'
import type { CallChange } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import type { Routing } from './run-route.ts'

/** The options of the feature. */
export interface RouteFeatureOptions {
  route?: (request: RouteCall, context: RouteContext) => unknown
  onRouteError?: 'fail' | 'ignore'
}

/** The feature that calls the `route` function. */
export interface RouteFeature extends Feature {
  /** Loads the code that calls the function. */
  load(): Promise<Routing>
}

/** Creates the feature if there is a `route` function. Its code is loaded with the first model request. */
export function createRouteFeature(
  options: RouteFeatureOptions,
  core: { clock: Clock; onError(error: unknown): void },
): RouteFeature | undefined {
  const load = once(async () => (await import('./run-route.ts')).createRouting(options, core))
  return (
    options.route &&
    ({
      name: 'route',
      load,
      aroundCall: async (call: CallRequest, next: (change?: CallChange) => Promise<Reply>) =>
        (await load()).answer(call, next),
    } as RouteFeature) // its step gets the gateway's own request
  )
}
