import { gatewayError } from '../../errors.ts'
import type { BuiltInFeature } from '../../feature.ts'
import type { InFlight } from '../../lib/in-flight.ts'

/** Creates the feature that rejects requests while `maxParallelRequests` others are in flight. Returns `undefined` if no limit is set. */
export function createConcurrencyLimit({ inFlight, limits }: ConcurrencyDependencies): BuiltInFeature | undefined {
  const maxRequests = limits.maxParallelRequests
  if (!Number.isFinite(maxRequests)) return undefined
  return {
    name: 'concurrency',
    aroundRequest(_, next) {
      if (inFlight.size > maxRequests) throw gatewayError('TOO_BUSY', { headers: { 'retry-after': '1' } })
      return next()
    },
  }
}

interface ConcurrencyDependencies {
  inFlight: InFlight
  limits: { maxParallelRequests: number }
}
