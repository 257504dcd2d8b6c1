import type { FeatureRoute, ServedArea } from './feature.ts'
import type { Reply } from './lib/exchange.ts'
import { awaitReply, toReply } from './request/call-steps.ts'
import type { AreaRequest } from './request/door/area.ts'
import { createManagementErrorReply } from './request/door/error-reply.ts'
import type { PageGuards } from './request/door/pages.ts'
import type { RoutedRequest } from './request/door/router.ts'
import { FeatureRequest, type RouteBodyLimits, UnrecordedRequest } from './request/feature-requests.ts'

export { awaitReply }

/** Dependencies for serving an area. */
export interface AreaServing {
  guards: PageGuards
  /** Throws `CLOSED` once the gateway has closed. */
  assertOpen(): void
  onError(error: unknown): void
}

/** Replies to a request for a feature's area. Never rejects. */
export async function serveFeatureArea(
  area: ServedArea,
  { exchange, path }: AreaRequest,
  { guards, assertOpen, onError }: AreaServing,
): Promise<Reply> {
  try {
    assertOpen()
    return await area.serve({ exchange, path, rest: path.slice(area.path.length), guards })
  } catch (error) {
    return createManagementErrorReply(error, onError)
  }
}

/** Replies to a request for a feature's route. */
export async function runFeatureRoute(
  route: FeatureRoute,
  request: RoutedRequest,
  { served, ...options }: RouteBodyLimits & { served: ConstructorParameters<typeof FeatureRequest>[0]['route'] },
): Promise<Reply> {
  const { exchange, params, caller, log } = request
  if (route.isRecorded === false) return toReply(await route.run(new UnrecordedRequest(request, params)))
  if (!log) throw new TypeError('A route of a feature is recorded.')
  return awaitReply(log, route.run(new FeatureRequest({ exchange, caller, log, route: served }, params, options)))
}
