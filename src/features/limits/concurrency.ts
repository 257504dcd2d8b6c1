import { gatewayError } from '../../errors.ts'
import type { BuiltInFeature } from '../../feature.ts'
import type { InFlight } from '../../lib/in-flight.ts'

/** Creates the feature that rejects requests while `maxParallelRequests` others are in flight. Returns `undefined` if no limit is set. */
export function createConcurrencyLimit({ inFlight, limits }: ConcurrencyDependencies): BuiltInFeature | undefined {
  const max = limits.maxParallelRequests
  if (!Number.isFinite(max)) return undefined
  return {
    name: 'concurrency',
    aroundRequest(_, next) {
      if (inFlight.size > max) throw gatewayError('TOO_BUSY', { headers: { 'retry-after': '1' } })
      return next()
    },
  }
}

interface ConcurrencyDependencies {
  inFlight: InFlight
  limits: { maxParallelRequests: number }
}
