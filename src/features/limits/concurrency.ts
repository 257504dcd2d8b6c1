import { gatewayError } from '../../errors.ts'
import type { Feature } from '../../feature.ts'
import type { InFlight } from '../../lib/in-flight.ts'

/** Rejects a request while `max` others are in flight. */
export function createConcurrencyLimit(inFlight: InFlight, max: number): Feature {
  return {
    name: 'concurrency',
    aroundRequest(_, next) {
      if (inFlight.size > max) throw gatewayError('TOO_BUSY', { headers: { 'retry-after': '1' } })
      return next()
    },
  }
}
