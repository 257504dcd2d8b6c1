import type { Feature, FeatureArea, FeatureRoute, GatewayCall } from './feature.ts'
import type { Reply } from './lib/exchange.ts'
import { once } from './lib/promises.ts'
import { refuseUnknownOptions } from './lib/renamed-options.ts'
import type { Area } from './request/door/area.ts'
import type { HttpRoute, RoutedRequest } from './request/door/router.ts'
import type { FeatureRouteTerms } from './request/feature-requests.ts'
import type { RouteRequest } from './request/route-request.ts'

/** Throws a TypeError for features that can't work. */
export function checkFeatures(features: readonly Feature[] = []): void {
  for (const [at, feature] of features.entries()) {
    const { name, areas = [], ...others } = feature
    if (typeof name !== 'string' || features.some((other, index) => index > at && other.name === name))
      throw new TypeError(`extend[${at}] needs its own "name".`)
    const isPlain = Object.getPrototypeOf(feature) === Object.prototype // an instance of a class has fields of its own
    if (isPlain) refuseUnknownOptions(others, MEMBERS, `extend[${at}].`)
    for (const { path, routes } of areas) {
      if (!/^(?:\/[\w.~-]+)+$/.test(path))
        throw new TypeError(`An area must have a path like "/hello", got ${JSON.stringify(path)}.`)
      const stray = routes.find((route) => !`${route.path}/`.startsWith(`${path}/`))
      if (stray) throw new TypeError(`The route "${stray.path}" must be below its area "${path}".`)
    }
  }
}

const MEMBERS = ['aroundRequest', 'aroundCall', 'aroundAttempt', 'operations', 'events', 'close']

/** The feature with bound members, and with steps that resolve to replies, whatever its own steps return. */
export function withReplies(feature: Feature): Feature {
  const { name, areas, operations, events } = feature
  const aroundRequest = feature.aroundRequest?.bind(feature)
  const aroundCall = feature.aroundCall?.bind(feature)
  const aroundAttempt = feature.aroundAttempt?.bind(feature)
  const close = feature.close?.bind(feature)
  return {
    name,
    ...(areas && { areas }),
    ...(operations && { operations }),
    ...(events && { events }),
    ...(aroundAttempt && { aroundAttempt }),
    ...(close && { close }),
    ...(aroundRequest && {
      async aroundRequest(request: RouteRequest, next: () => Promise<Reply>) {
        const { takeReply } = await loadReplies()
        return takeReply(request.log, aroundRequest(request, next))
      },
    }),
    ...(aroundCall && {
      async aroundCall(call: RouteRequest & GatewayCall, next) {
        const { takeReply } = await loadReplies()
        return takeReply(call.log, aroundCall(call, next))
      },
    }),
  }
}

/** Few gateways have features that reply. */
const loadReplies = once(() => import('./request/feature-requests.ts'))

/** The areas of features, served with client keys. */
export function createFeatureAreas(
  features: readonly Feature[],
  { serve, ...terms }: FeatureRouteTerms & { serve(routes: readonly HttpRoute[]): Area['serve'] },
): Area[] {
  return features.flatMap(({ name, areas = [] }) =>
    areas.map(
      ({ path, routes }: FeatureArea): Area => ({
        name,
        path,
        guard: 'key',
        methods: [...new Set(routes.map(({ method }) => method))],
        isForPages: true,
        serve: serve(routes.map((route) => toHttpRoute(route, name, terms))),
      }),
    ),
  )
}

function toHttpRoute(route: FeatureRoute, name: string, terms: FeatureRouteTerms): HttpRoute {
  const served = { route: { path: route.path, format: 'openai-chat', operation: { name } } } as const
  return {
    method: route.method,
    path: route.path,
    serves: () => served,
    async run({ exchange, params, caller, log }: RoutedRequest) {
      if (!log) throw new TypeError('A route of a feature is recorded.')
      const { FeatureRequest, takeReply } = await loadReplies()
      const request = new FeatureRequest({ exchange, caller, log, route: served.route }, params, terms)
      return takeReply(log, route.run(request))
    },
  }
}
