import type { BuiltInFeature, Feature, FeatureArea, FeatureRoute, ServedArea } from './feature.ts'
import type { AreaServing } from './feature-serving.ts'
import { once } from './lib/promises.ts'
import { rejectUnknownOptions } from './lib/renamed-options.ts'
import { operationNames } from './management/operation-names.data.ts'
import { type Area, findArea } from './request/door/area.ts'
import type { HttpRoute } from './request/door/router.ts'
import type { RouteBodyLimits } from './request/feature-requests.ts'

/** Throws a TypeError for invalid features. */
export function checkFeatures(features: readonly Feature[] = []): void {
  for (const [featureIndex, feature] of features.entries()) {
    const { name, areas = [], routes = [], operations = {}, ...others } = feature
    if (typeof name !== 'string' || features.some((other, index) => index > featureIndex && other.name === name))
      throw new TypeError(`extend[${featureIndex}] needs its own "name".`)
    const isPlain = Object.getPrototypeOf(feature) === Object.prototype // a class instance can have its own fields
    if (isPlain) rejectUnknownOptions(others, FEATURE_METHODS, `extend[${featureIndex}].`)
    for (const area of areas) {
      if (!/^(?:\/[\w.~-]+)+$/.test(area.path))
        throw new TypeError(`An area must have a path like "/hello", got ${JSON.stringify(area.path)}.`)
      const misplacedRoute = listRoutes(area).find(({ path }) => !`${path}/`.startsWith(`${area.path}/`))
      if (misplacedRoute)
        throw new TypeError(`The route "${misplacedRoute.path}" must be below its area "${area.path}".`)
    }
    const misplacedRoute = routes.find(({ path }) => !/^\/v1(?:beta)?\/./.test(path))
    if (misplacedRoute)
      throw new TypeError(`The route "${misplacedRoute.path}" must be below /v1 or /v1beta. Put others into "areas".`)
    const conflictingResource = Object.keys(operations).find((resource) => Object.hasOwn(operationNames, resource))
    if (conflictingResource)
      throw new TypeError(
        `The feature "${name}" can't add operations to gateway.api.${conflictingResource}. Rename them.`,
      )
  }
}

const FEATURE_METHODS = ['aroundRequest', 'aroundCall', 'aroundAttempt', 'events', 'close']

/** A name, path, or operation that only one feature may define. */
interface Claim {
  feature: string
  what: string
  advice: string
}

function listOperationNames(feature: string, operations: NonNullable<Feature['operations']>): Claim[] {
  return Object.entries(operations).flatMap(([resource, entries]) => [
    { feature, what: `operations "${resource}"`, advice: 'Rename them in one of the two.' },
    ...Object.values(entries).map(({ method, path }) => ({
      feature,
      what: `the operation ${method} ${withoutNames(path)}`,
      advice: 'Change one of the paths.',
    })),
  ])
}

/** Removes parameter names, because paths that differ only in those names match the same requests. */
const withoutNames = (path: string) => path.replaceAll(/:\w+/g, ':')

/** Throws a TypeError if a feature in the `extend` option has the name of a built-in feature or area. */
export function checkNames(features: readonly BuiltInFeature[], extend: readonly Feature[] = []): void {
  const names = ['models', 'health', ...features.map(({ name }) => name)]
  const duplicate = extend.find(({ name }) => names.indexOf(name) !== names.lastIndexOf(name))
  if (duplicate) throw new TypeError(`The gateway already has a feature named "${duplicate.name}". Rename yours.`)
}

/** Throws a TypeError if a route is defined twice, whether by one feature or by two. */
export const checkRoutes = (features: ReadonlyArray<RouteOwner>): void =>
  checkDistinct(
    features.flatMap((feature) =>
      listFeatureRoutes(feature).map(({ method, path }) => ({
        feature: feature.name,
        what: `the route ${method} ${withoutNames(path)}`,
        advice: 'Change one of the paths.',
      })),
    ),
  )

/** Throws a TypeError if a management API operation is defined twice. */
export const checkOperations = (features: ReadonlyArray<Pick<BuiltInFeature, 'name' | 'operations'>>): void =>
  checkDistinct(features.flatMap(({ name, operations = {} }) => listOperationNames(name, operations)))

/** Lists a feature's routes that need a client key. */
export const listFeatureRoutes = ({ routes = [], areas = [] }: RouteOwner): NonNullable<RouteOwner['routes']> => [
  ...routes,
  ...areas.flatMap(listRoutes),
]

/** A feature, or the gateway itself, with its routes. */
interface RouteOwner extends Pick<BuiltInFeature, 'name' | 'areas'> {
  routes?: ReadonlyArray<Pick<HttpRoute, 'method' | 'path'>> | undefined
}

/** Throws a TypeError if the areas of two features overlap. */
export function checkAreas(areas: readonly Area[]): void {
  for (const [index, { name, path }] of areas.entries()) {
    const other = areas.slice(0, index).find((area) => area.path === path || findArea([area], path) !== undefined)
    if (!other) continue
    const advice =
      other.name === 'models' ? 'Put routes below /v1 and /v1beta into "routes".' : 'Change the path of one of them.'
    throw new TypeError(`The area ${path} of "${name}" is hidden by ${other.path} of "${other.name}". ${advice}`)
  }
}

function checkDistinct(claims: readonly Claim[]): void {
  for (const [index, { feature, what, advice }] of claims.entries()) {
    const other = claims.slice(0, index).find((claim) => claim.what === what)
    if (other?.feature === feature) throw new TypeError(`The feature "${feature}" has ${what} twice. ${advice}`)
    if (other) throw new TypeError(`The features "${other.feature}" and "${feature}" both have ${what}. ${advice}`)
  }
}

const listRoutes = (area: FeatureArea | ServedArea): readonly FeatureRoute[] => ('routes' in area ? area.routes : [])

/** Binds a feature's methods, and converts its steps' results to replies. */
export function adaptFeature(feature: Feature): BuiltInFeature {
  const { name, areas, routes, operations, events } = feature
  const aroundRequest = feature.aroundRequest?.bind(feature)
  const aroundCall = feature.aroundCall?.bind(feature)
  return {
    name,
    areas,
    routes,
    operations,
    events,
    aroundAttempt: feature.aroundAttempt?.bind(feature),
    close: feature.close?.bind(feature),
    aroundRequest:
      aroundRequest &&
      (async (request, next) => (await loadServing()).awaitReply(request.log, aroundRequest(request, next))),
    aroundCall:
      aroundCall && (async (call, next) => (await loadServing()).awaitReply(call.log, aroundCall(call, next))),
  }
}

/** Lazy-loaded on the first request to a feature. */
const loadServing = once(() => import('./feature-serving.ts'))

interface AreaOptions extends RouteBodyLimits, AreaServing {
  serveRoutes(routes: readonly HttpRoute[]): Area['serve']
}

/** Creates all features' areas. */
export const createAreas = (
  features: ReadonlyArray<Pick<BuiltInFeature, 'name' | 'areas'>>,
  options: AreaOptions,
): Area[] =>
  features.flatMap(({ name, areas = [] }) =>
    areas.map((area) =>
      'routes' in area ? createRouteArea(name, area, options) : createServedArea(name, area, options),
    ),
  )

const createRouteArea = (name: string, { path, routes }: FeatureArea, options: AreaOptions): Area => ({
  name,
  path,
  pageMethods: [...new Set(routes.map(({ method }) => method))],
  serve: options.serveRoutes(routes.map((route) => toHttpRoute(route, name, options))),
})

function createServedArea(name: string, area: ServedArea, options: AreaOptions): Area {
  const { path: prefix, hasFolder = true } = area
  return {
    name,
    path: prefix,
    ...(!hasFolder && { owns: (path: string) => path === prefix }),
    serve: async (request) => (await loadServing()).serveFeatureArea(area, request, options),
  }
}

/** Converts a feature's routes outside its areas to HTTP routes. */
export const toHttpRoutes = (
  { name, routes = [] }: Pick<BuiltInFeature, 'name' | 'routes'>,
  options: RouteBodyLimits,
) => routes.map((route) => toHttpRoute(route, name, options))

function toHttpRoute(route: FeatureRoute, name: string, options: RouteBodyLimits): HttpRoute {
  const { method, path } = route
  const operation = { name: route.operation ?? name }
  const served = { route: { path, format: 'openai-chat', operation } } as const
  return {
    method,
    path,
    ...(route.isRecorded !== false && { matchEndpoint: () => served }),
    run: async (request) => (await loadServing()).runFeatureRoute(route, request, { ...options, served: served.route }),
  }
}
