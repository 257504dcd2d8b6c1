import type { Exchange, Reply, UpstreamFetch } from '../../lib/exchange.ts'
import type { InFlight } from '../../lib/in-flight.ts'
import type { RouteRequest } from '../../request/route-request.ts'

interface WaitingWarningOptions {
  /** Warns that the platform doesn't allow this many concurrent requests. */
  warn: ((requests: number) => void) | undefined
  inFlight: InFlight
  upstream(exchange: Exchange): UpstreamFetch
  platformFetch: UpstreamFetch
}

/**
 * Creates the feature that warns if more calls are in flight than the platform runs concurrently. Returns `undefined` on platforms without such a
 * limit.
 */
export const createWaitingWarning = ({ warn, inFlight, upstream, platformFetch }: WaitingWarningOptions) =>
  warn && {
    name: 'waiting-warning',
    aroundRequest({ exchange }: RouteRequest, next: () => Promise<Reply>) {
      if (upstream(exchange) === platformFetch) warn(inFlight.size)
      return next()
    },
  }
