import { type GatewayError, gatewayError } from '../errors.ts'
import type { FailureClass } from '../routing/failure-class.ts'
import type { Standing } from '../routing/health.ts'
import type { Failure } from './failure.ts'

/**
 * The error for a request whose targets are all cooling, when another request has just failed at `name`. It does not quote the provider,
 * whose message was for that request. `now`: epoch ms.
 */
export function stillCooling(name: string, { class: failure, dueAt }: Standing, now: number): Failure {
  return {
    class: failure,
    status: STATUSES[failure] ?? 503,
    message: `All targets are cooling after failures. Another request has just tried ${name}, the first to recover (${failure}).`,
    retryAfterMs: Math.max(0, dueAt - now),
  }
}

/** The status that the request would have got itself. */
const STATUSES: Partial<Record<FailureClass, number>> = {
  credentials: 502,
  network: 502,
  content: 502,
  'rate-limit': 429,
  forbidden: 403,
  'model-not-found': 404,
  timeout: 504,
}

/** The error for a request whose targets are all draining. */
export const allDraining = (model: string): GatewayError =>
  gatewayError('DRAINING', {
    message: `All connections for the model "${model}" are draining: they finish what is under way and take no new requests. Set "draining" of one to false, or add another connection.`,
  })
